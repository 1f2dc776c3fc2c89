// Llama 3.1 8B, decoding with a cache in pages: a few new queries of each sequence, whose keys lie in pages of 16.
//
// The cache is a pool of pages, [P, 16, Hkv, D]. Entry n of a sequence's row of the table names the page that holds its
// keys 16 n to 16 n + 15; what stands behind its length is not read, neither in the table nor in the last page (S19).
// The last query of a sequence stands at its last key (S2).
//
// DEMO: --shape B=3,Sq=2,Sk=320,P=70
func.func @paged_decode(%q: tensor<?x?x32x128xbf16> {attn.name = "q"}, %k: tensor<?x16x8x128xbf16> {attn.name = "k"},
                        %v: tensor<?x16x8x128xbf16> {attn.name = "v"}, %lengths: tensor<?xi32> {attn.name = "lengths"},
                        %pages: tensor<?x?xi32> {attn.name = "pages"})
    -> (tensor<?x?x32x128xbf16> {attn.name = "out"}, tensor<?x32x?xf32> {attn.name = "lse"}) {
  %o, %lse = attn.forward %q, %k, %v lengths(key = %lengths : tensor<?xi32>) paged(%pages : tensor<?x?xi32>)
    mask (%b, %h, %i, %j) {
      %keep = attn.causal %i, %j
      attn.yield %keep : i1
    }
    : (tensor<?x?x32x128xbf16>, tensor<?x16x8x128xbf16>, tensor<?x16x8x128xbf16>)
    -> (tensor<?x?x32x128xbf16>, tensor<?x32x?xf32>)
  return %o, %lse : tensor<?x?x32x128xbf16>, tensor<?x32x?xf32>
}
