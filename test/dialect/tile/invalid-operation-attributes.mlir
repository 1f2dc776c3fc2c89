// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// What passes say of operations is known by name, type and range.

func.func @unknown(%n: index) {
  // expected-error@+1 {{'arith.addi' op 'tile.lods_together' is no attribute of operations}}
  %sum = arith.addi %n, %n {tile.lods_together = 2 : i64} : index
  return
}

// -----

func.func @none_at_once(%n: index) {
  // expected-error@+1 {{'arith.addi' op expected 'tile.loads_together' to be at least 1, got 0}}
  %sum = arith.addi %n, %n {tile.loads_together = 0 : i64} : index
  return
}

// -----

func.func @narrow(%n: index) {
  // expected-error@+1 {{'arith.addi' op expected 'tile.chains' to be an i64}}
  %sum = arith.addi %n, %n {tile.chains = 2 : i32} : index
  return
}

// -----

func.func @between_products(%n: index) {
  // expected-error@+1 {{'arith.addi' op expected 'tile.load_columns' to be 8 or 16, got 24}}
  %sum = arith.addi %n, %n {tile.load_columns = 24 : i64} : index
  return
}

// -----

func.func @overlap(%n: index) {
  // expected-error@+1 {{'arith.addi' op expected 'tile.overlap' to be #tile.overlap}}
  %sum = arith.addi %n, %n {tile.overlap = "sums_late"} : index
  return
}

// -----

func.func @unit(%n: index) {
  // expected-error@+1 {{'arith.addi' op expected 'tile.by_row' to be a unit}}
  %sum = arith.addi %n, %n {tile.by_row = true} : index
  return
}

// -----

// expected-error@+1 {{'func.func' op expected 'tile.launch' to be #tile.launch}}
func.func private @launched() attributes {tile.launch}

// -----

func.func @no_blocks(%n: index) {
  // expected-error@+1 {{'arith.addi' op expected 'tile.min_blocks' to be at least 1, got 0}}
  %sum = arith.addi %n, %n {tile.min_blocks = 0 : i64} : index
  return
}

// -----

func.func @how_predicated(%n: index) {
  // expected-error@+1 {{'arith.addi' op expected 'tile.predicated' to be a unit}}
  %sum = arith.addi %n, %n {tile.predicated = 1 : i64} : index
  return
}
