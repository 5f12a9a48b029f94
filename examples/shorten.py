#!/usr/bin/python3
"""A program for dvm-provider: shortens texts to the first sentence of each input.

It reads one request, a JSON object, from standard input, writes the result to standard output, and may say how far it
is on descriptor 3. Try it by hand (docs/workers/dvm-provider.md):

    echo '{"inputs":[{"data":"One. Two.","type":"text"}]}' | examples/shorten.py 3>&2
"""
import json
import os
import sys

request = json.load(sys.stdin)
os.write(3, b'{"status":"processing","message":"reading"}\n')
texts = [i["data"] for i in request["inputs"] if i["type"] == "text"]
if not texts:
    # The last line of standard error is the reason that the customer is told.
    sys.exit("an input of type text is missing")
print(" ".join(text.split(". ")[0] for text in texts))
