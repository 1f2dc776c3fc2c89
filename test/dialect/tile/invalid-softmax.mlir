// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// Faults of the online softmax and of its end, one a chunk.

func.func @softmax_weights(%s: vector<16x8xf32>, %m: vector<16xf32>, %i: index) {
  // expected-error@+1 {{op expected weights of the shape of the scores, got 'vector<16x16xbf16>'}}
  %n, %l, %p, %r = tile.softmax %s, %m, %m at(%i, %i) {scale = 1.0 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x16xbf16>
  return
}

// -----

func.func @softmax_rows(%s: vector<16x8xf32>, %m: vector<8xf32>, %i: index) {
  // expected-error@+1 {{op expected one number for each of the 16 rows of the scores, got 'vector<8xf32>'}}
  %n, %l, %p, %r = tile.softmax %s, %m, %m at(%i, %i) {scale = 1.0 : f32} : vector<16x8xf32>, vector<8xf32> -> vector<16x8xbf16>
  return
}

// -----

func.func @softmax_scale(%s: vector<16x8xf32>, %m: vector<16xf32>, %i: index) {
  // expected-error@+1 {{op expected a finite scale above 0}}
  %n, %l, %p, %r = tile.softmax %s, %m, %m at(%i, %i) {scale = 0.0 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xbf16>
  return
}

// -----

func.func @softmax_on_growth(%s: vector<16x8xf32>, %m: vector<16xf32>, %i: index) {
  // expected-error@+1 {{op a fixed maximum never grows: 'rescale_on_growth' and 'fixed' exclude each other}}
  %n, %l, %p, %r = tile.softmax %s, %m, %m at(%i, %i) {fixed, rescale_on_growth, scale = 1.0 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xbf16>
  return
}

// -----

func.func @softmax_numbers(%s: vector<16x8xf32>, %m: vector<16xf32>, %i: index, %n: vector<8x16xi16>, %least: i32) {
  // expected-error@+1 {{op expected numbers of the shape of the scores, got 'vector<8x16xi16>'}}
  %0, %l, %p, %r = tile.softmax %s, %m, %m at(%i, %i) numbers %n : vector<8x16xi16> dropped below %least {scale = 1.0 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xbf16>
  return
}

// -----

func.func @softmax_own(%s: vector<16x8xf32>, %m: vector<16xf32>, %own: vector<8xf32>, %i: index) {
  // expected-error@+1 {{op expected maxima of the tile's own of type 'vector<16xf32>'}}
  %n, %l, %p, %r = tile.softmax %s, %m, %m at(%i, %i) own %own : vector<8xf32> {scale = 1.0 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xbf16>
  return
}

// -----

func.func @softmax_renewed(%s: vector<16x8xf32>, %m: vector<16xf32>, %some: vector<8xi1>, %i: index) {
  // expected-error@+1 {{op expected to be told of each of the 16 rows whether it is renewed}}
  %n, %l, %p, %r = tile.softmax %s, %m, %m at(%i, %i) renewed %some : vector<8xi1> {scale = 1.0 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xbf16>
  return
}

// -----

func.func @softmax_fixed(%s: vector<16x8xf32>, %m: vector<16xf32>, %i: index) {
  // expected-error@+1 {{op a fixed maximum never grows: it has no maxima of the tile's own and no rows to renew}}
  %n, %l, %p, %r = tile.softmax %s, %m, %m at(%i, %i) own %m : vector<16xf32> {fixed, scale = 1.0 : f32} : vector<16x8xf32>, vector<16xf32> -> vector<16x8xbf16>
  return
}

// -----

func.func @softmax_end_max_weight(%m: vector<16xf32>) {
  // expected-error@+1 {{op expected 'rounded': the type that the greatest weight was converted to}}
  %f, %lse = tile.softmax_end %m, %m max_weight %m : vector<16xf32> {scale = 1.0 : f32} : vector<16xf32>
  return
}

// -----

func.func @softmax_end_padding(%m: vector<16xf32>, %padding: vector<8xi1>) {
  // expected-error@+1 {{op expected padding for each of the 16 rows}}
  %f, %lse = tile.softmax_end %m, %m padding %padding : vector<8xi1> {scale = 1.0 : f32} : vector<16xf32>
  return
}

// -----

func.func @softmax_end_sink(%m: vector<16xf32>, %sink: vector<8xf32>) {
  // expected-error@+1 {{op expected a sink for each of the 16 rows}}
  %f, %lse = tile.softmax_end %m, %m sink %sink : vector<8xf32> {scale = 1.0 : f32} : vector<16xf32>
  return
}
