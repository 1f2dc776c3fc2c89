// A cap too wide for weights of one scale, in steps that look for maxima.
func.func @wide_cap(%q: tensor<?x?x8x128xbf16> {attn.name = "q"}, %k: tensor<?x?x8x128xbf16> {attn.name = "k"}, %v: tensor<?x?x8x128xbf16> {attn.name = "v"})
    -> (tensor<?x?x8x128xbf16> {attn.name = "out"}) {
  %o = attn.forward %q, %k, %v
    score (%s, %b, %h, %i, %j) {
      %cap = arith.constant 2000.0 : f32
      %x = arith.divf %s, %cap : f32
      %y = math.tanh %x : f32
      %r = arith.mulf %cap, %y : f32
      attn.yield %r : f32
    } schedule(#attn.schedule<query_tile = 128, key_tile = 64, panel = 64, pipeline = #attn.roles<consumers = 2, stages = 2, query_stages = 1, producer_registers = 24, consumer_registers = 240, rescaling = each_step, ping_pong = true, by_row = true, epilogue = staged, dynamic = true>>)
    : (tensor<?x?x8x128xbf16>, tensor<?x?x8x128xbf16>, tensor<?x?x8x128xbf16>) -> tensor<?x?x8x128xbf16>
  return %o : tensor<?x?x8x128xbf16>
}
