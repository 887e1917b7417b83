# mix run bench/run.exs [subject ...]
#
# Runs bench/<subject>_bench.exs, or all of them. Each prints its own table with `EchoData.Bench`.

Code.require_file("bench.exs", __DIR__)

case System.argv() do
  [] -> Path.wildcard(Path.join(__DIR__, "*_bench.exs"))
  subjects -> Enum.map(subjects, &Path.join(__DIR__, "#{&1}_bench.exs"))
end
|> Enum.each(&Code.require_file/1)
