[
  inputs: ["{mix,.formatter}.exs", "{lib,twin,demo,conformance,test,bench}/**/*.{ex,exs}"],
  line_length: 98
]
