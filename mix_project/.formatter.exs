[
  inputs: ["{mix,.formatter}.exs", "{lib,twin,demo,test,bench}/**/*.{ex,exs}"],
  line_length: 98
]
