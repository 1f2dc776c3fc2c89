// RUN: attnc-opt %s -split-input-file -verify-diagnostics

// Faults of programs, one a chunk: their arguments, grids and sizes.

// expected-error@+1 {{op expected the number of the tile, an index, as the last argument}}
tile.program @no_tile() attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected the number of the tile, an index, as the last argument}}
tile.program @tile_is_no_index(%tile: i64)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected a body}}
tile.program @declared(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8}

// -----

// expected-error@+1 {{op expected no results}}
tile.program @result(%tile: index) -> index
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected a grid of one result, without dimensions, and a pair in grid_sizes for each symbol}}
tile.program @grid_of_two(%tile: index)
    attributes {grid = affine_map<() -> (1, 2)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected a grid of one result, without dimensions, and a pair in grid_sizes for each symbol}}
tile.program @grid_with_dimension(%tile: index)
    attributes {grid = affine_map<(d0) -> (d0)>, grid_sizes = array<i64>, rows = 8, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected a grid of one result, without dimensions, and a pair in grid_sizes for each symbol}}
tile.program @half_a_pair(%view: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 0>, rows = 8, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected grid_sizes to name dimensions of arguments, got (2, 0)}}
tile.program @no_such_argument(%view: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 2, 0>, rows = 8, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected launch_sizes with when and unless}}
tile.program @sizes_of_nothing(%view: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 0, 0>, rows = 8, panel = 8,
                when = #attn.sizes<keys = to 9>} {
  tile.return
}

// -----

// expected-error@+1 {{op expected launch_sizes with when and unless}}
tile.program @exceptions_of_nothing(%view: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 0, 0>, rows = 8, panel = 8,
                unless = [#attn.sizes<keys = to 9>]} {
  tile.return
}

// -----

// expected-error@+1 {{op expected launch_sizes to give the 5 sizes of #attn.sizes, without dimensions, from the symbols of the grid}}
tile.program @too_few_sizes(%view: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 0, 0>, rows = 8, panel = 8,
                when = #attn.sizes<keys = to 9>, launch_sizes = affine_map<()[s0] -> (s0)>} {
  tile.return
}

// -----

// expected-error@+1 {{from the symbols of the grid}}
tile.program @sizes_of_other_symbols(%view: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 0, 0>, rows = 8, panel = 8,
                when = #attn.sizes<keys = to 9>, launch_sizes = affine_map<()[s0, s1] -> (s0, s1, 1, 1, 1)>} {
  tile.return
}

// -----

// expected-error@+1 {{op expected grid_sizes to name dimensions of arguments, got (-1, 0)}}
tile.program @negative_argument(%view: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: -1, 0>, rows = 8, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected grid_sizes to name dimensions of arguments, got (1, 0)}}
tile.program @argument_without_sizes(%view: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 1, 0>, rows = 8, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected grid_sizes to name dimensions of arguments, got (0, 1)}}
tile.program @no_such_dimension(%view: memref<?xf32>, %tile: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, grid_sizes = array<i64: 0, 1>, rows = 8, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected panel to divide rows, got 8 and 12}}
tile.program @uneven_panels(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 12, panel = 8} {
  tile.return
}

// -----

// expected-error@+1 {{op expected panel to divide rows, got 0 and 8}}
tile.program @no_panel(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 0} {
  tile.return
}

// -----

// expected-error@+1 {{op expected panel to divide rows, got 8 and 0}}
tile.program @no_rows(%tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 0, panel = 8} {
  tile.return
}

// -----

func.func @live_rows_outside(%n: index) {
  // expected-error@+1 {{op expects parent op 'tile.program'}}
  tile.live_rows %n
  return
}

// -----

// expected-error@+1 {{op expected rows of i32 or f32 for workspace 'steps', memref<?x?xf32> or with the columns that its sizes say, got 'memref<?x?xi64>'}}
tile.program @workspace_type(%list: memref<?x?xi64>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                workspaces = [#tile.workspace<"steps", () -> (1, 2)>]} {
  tile.return
}

// -----

// expected-error@+1 {{op expected rows of i32 or f32 for workspace 'sums', memref<?x?xf32> or with the columns that its sizes say, got 'memref<?x8xf32>'}}
tile.program @workspace_columns(%sums: memref<?x8xf32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                workspaces = [#tile.workspace<"sums", () -> (1, 16)>]} {
  tile.return
}

// -----

// expected-error@+1 {{op expected two sizes of workspace 'steps', without dimensions, from the symbols of the grid}}
tile.program @workspace_sizes(%list: memref<?x?xi32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                workspaces = [#tile.workspace<"steps", () -> (1)>]} {
  tile.return
}

// -----

// expected-error@+1 {{op expected one workspace 'steps', got two}}
tile.program @workspace_names(%one: memref<?x?xi32>, %other: memref<?x?xi32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                workspaces = [#tile.workspace<"steps", () -> (1, 2)>, #tile.workspace<"steps", () -> (1, 2)>]} {
  tile.return
}

// -----

// expected-error@+1 {{op expected 2 views of workspaces as the arguments before the last, got 1 arguments there}}
tile.program @workspace_views(%one: memref<?x?xi32>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8,
                workspaces = [#tile.workspace<"steps", () -> (1, 2)>, #tile.workspace<"sums", () -> (1, 2)>]} {
  tile.return
}

// -----

// expected-error@+1 {{op expected boxes to name an argument and its dimension of rows, each}}
tile.program @odd_boxes(%a: memref<?x?xbf16>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8, boxes = array<i64: 0>} {
  tile.return
}

// -----

// Columns lie along the last dimension.
// expected-error@+1 {{op expected boxes to name dimensions of arguments, but the last, got (0, 1)}}
tile.program @boxes_of_columns(%a: memref<?x?xbf16>, %tile: index)
    attributes {grid = affine_map<() -> (1)>, grid_sizes = array<i64>, rows = 8, panel = 8, boxes = array<i64: 0, 1>} {
  tile.return
}
