"""What all tests share: nothing they answer goes into a reader's progress file."""

import os

os.environ["ATTENTION_COURSE_PROGRESS"] = "off"
