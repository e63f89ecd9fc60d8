"""Audit any Python classifier: here a scikit-learn pipeline trained on the built-in sentiment
sentences.

Run: python examples/audit_your_classifier.py   (needs scikit-learn)
"""

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import disorder

train = disorder.read_data("builtin:sentiment:train")
classifier = make_pipeline(CountVectorizer(), LogisticRegression(max_iter=1000))
classifier.fit(
    [example.text_a for example in train.examples], [example.label for example in train.examples]
)

run = disorder.audit(classifier, "builtin:sentiment", q=20, limit=300)
print(run)
for record in run.scores:
    if record.metric in ("accuracy", "wos"):
        interval = f"{record.value:.3f} [{record.low:.2f}, {record.high:.2f}]"
        print(f"{record.transformation:29} {record.metric:10} {record.group:12} {interval}")
