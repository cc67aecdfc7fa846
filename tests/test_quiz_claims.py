"""What the questions of lesson 01 claim is so."""

import pytest
import torch


def test_c06_c38_claims_about_the_scale():
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(200, 16, 64, generator=generator) for _ in range(2))
    scores = q @ k.transpose(1, 2)
    assert scores.var().item() == pytest.approx(64, rel=0.05)  # q5
    assert (scores / 8).var().item() == pytest.approx(1, rel=0.05)

    def entropy(divisor):
        weights = torch.softmax(scores / divisor, dim=-1)
        return -(weights * weights.clamp_min(1e-30).log()).sum(-1).mean().item()

    unscaled, by_root, by_model, by_width = (entropy(d) for d in (1, 8, 512**0.5, 64))
    assert unscaled < by_root < by_model < by_width  # q1: sharper; flatter; flatter still


def test_c12_c38_claims_about_softmax_and_masks():
    scores = torch.randn(6, 6, generator=torch.Generator().manual_seed(1))
    columns = torch.softmax(scores, dim=-2)
    assert columns.sum(-1).max() > 1.05 and columns.sum(-1).min() < 0.95  # q2
    equal = torch.zeros(4, 4)
    assert torch.equal(torch.softmax(equal, 0), torch.softmax(equal, 1))
    late = torch.softmax(scores, dim=-1)
    late[2, 4] = 0
    early = scores.clone()
    early[2, 4] = float("-inf")
    early = torch.softmax(early, dim=-1)
    assert late[2].sum() < 0.999 and early[2].sum() == pytest.approx(1)  # q3
    visible = [0, 1, 2, 3, 5]
    assert (late[2, visible] < early[2, visible]).all()
    assert not late.isnan().any()
    assert torch.full((3,), float("-inf")).softmax(0).isnan().all()


def test_c38_claims_about_the_encoder():
    from helpers.encoder import load_encoder

    encoding = load_encoder().encode("The bank by the river issued a statement.")
    labels, layer = encoding.labels, encoding.weights[0]
    bank, river, issued = (labels.index(word) for word in ("bank", "river", "issued"))
    assert layer.shape[0] == 12
    assert round(layer[4, bank, river].item(), 2) == 0.67
    assert round(layer[3, bank, issued].item(), 2) == 0.25
    mean = layer.mean(0)
    assert round(mean[bank, river].item(), 2) == 0.15
    assert round(mean[bank, issued].item(), 2) == 0.08
