# mix run bench/run.exs [subject ...]
#
# Runs bench/<subject>_bench.exs, or all of them. Each prints its own tables with `EchoData.Bench`.

Code.require_file("bench.exs", __DIR__)

IO.puts("Nanoseconds: median round (quartiles). #{EchoData.Bench.machine()}")

case System.argv() do
  [] -> Path.wildcard(Path.join(__DIR__, "*_bench.exs"))
  subjects -> Enum.map(subjects, &Path.join(__DIR__, "#{&1}_bench.exs"))
end
|> Enum.each(&Code.require_file/1)
