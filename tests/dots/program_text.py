"""A program as text that has something of everything: of strings, of params, of steps before and after."""

TEXT = """\
program 1.0
source h'0000000000000000000000000000000000000000000000000000000000000000'
igc "0.1.0"
catalogue h'1111111111111111111111111111111111111111111111111111111111111111'
fusion exact
pass "order"
input "text" = %0
output "result" = %4
block 5
  llm.generate@1 #0000000002
    dot steps=16 kv=64 seconds=9
    param stop = ["\\u202e", "\\n"]
    param min_p = 0.05
    param top_k = 40
    param top_p = 0.5
    param repetition_penalty = 1.3
    in prompt = %1 %0
    out text = %2
    out usage = %3
    before text.template@1 #0000000001
      param "a.b" = {1: h'00ff', 2: null}
      in text = %0
      out text = %1
    after flow.output@1 #0000000003
      in value = %2
      out value = %4
"""
