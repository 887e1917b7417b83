defmodule Mix.Tasks.EchoData.DemoTest do
  use ExUnit.Case

  import ExUnit.CaptureIO

  alias EchoData.{Demo, GitRepository, UserMix}
  alias Mix.Tasks.EchoData.Demo, as: Task

  @moduletag timeout: 120_000

  @years [{"2024-01-01T00:00:00Z", "first"}, {"2025-06-01T00:00:00Z", "second"}]

  describe "a repository" do
    test "is shown, asked about and timed" do
      path = GitRepository.create!(@years ++ [{"2025-06-01T00:00:00Z", "same second"}])
      output = capture_io(fn -> Demo.run(path, rounds: 1, round_ns: 0) end)
      assert output =~ "3 commits since 2024 of #{path}\n"

      assert output =~
               ~r/2025-06-01 00:00  CMT\w{11}  [0-9a-f]{10}  same second\n.*  second\n.*  first\n/

      assert output =~ ~r/2025-06  █+ +2\n/u

      for kind <- ["property store", "timeline"],
          do: assert(output =~ ~r/^#{kind} +rows +ETS +EchoData +ratio$/m)

      assert output =~ ~r/^the newest ten +3 .*×$/m
      assert output =~ "The answers of both are equal. The ids to look up come from seed "
    end

    test "is asked who touched what, and what came from what" do
      path = GitRepository.create!(@years)

      for {email, n} <- [{"ann@example.org", 1}, {"bob@example.org", 2}] do
        files = %{"shared" => "#{n}\n", "of #{n}" => "1\n"}
        GitRepository.commit!(path, "2025-07-01T00:00:0#{n}Z", email, files)
      end

      output = capture_io(fn -> Demo.run(path, rounds: 1, round_ns: 0) end)
      assert output =~ ~r/^Files of most authors\n\n +2  shared\n +1  of 1\n +1  of 2\n/m
      assert output =~ ~r/^edge store: who touched what +rows +ETS +EchoData +ratio$/m
      assert output =~ ~r/^files that two authors share +1 .*×$/m
      assert output =~ ~r/^edges: what came from what +rows +ETS +EchoData +ratio$/m
      assert output =~ ~r/^parents of each commit +3 .*×$/m
    end

    test "may have commits that no id can hold" do
      path = GitRepository.create!(@years ++ [{"@4000000000 +0000", "after 2093"}])
      output = capture_io(fn -> Demo.run(path, rounds: 1, round_ns: 0) end)
      assert output =~ "2 commits since 2024"
      assert output =~ "left out, since no id can hold their times: 1\n"
    end

    test "that breaks off ends the demo with a sentence" do
      path = GitRepository.create!(@years)
      <<folder::binary-size(2), file::binary>> = GitRepository.git!(path, ~w(rev-parse HEAD~1))
      File.rm!(Path.join([path, ".git/objects", folder, file]))
      assert {output, 1} = user_runs([path])
      assert output =~ "git log failed in #{path} (exit status 128)\n"
      refute output =~ ~r/\.exs?:\d+:/
    end
  end

  describe "one sentence and exit status 1:" do
    test "as a user sees it" do
      path = GitRepository.folder!()
      assert user_runs([path]) == {"#{path} is not in a git repository\n", 1}
    end

    test "no such folder" do
      assert failure(["/nonexistent"]) == "/nonexistent is not a folder"
    end

    test "no commit" do
      path = GitRepository.create!([])
      assert failure([path]) == "#{path} is a git repository without a commit"
    end

    test "a history before 2024" do
      path = GitRepository.create!([{"2023-12-31T23:59:59Z", "old"}])
      assert failure([path]) == "#{path} has no commit of 2024 or later"
    end

    test "arguments that it does not know" do
      usage = "usage: mix echo_data.demo [PATH] [--seed N]"

      for arguments <- [["a", "b"], ["--seed", "x"], ["--speed"]],
          do: assert(failure(arguments) == usage)
    end
  end

  defp failure(arguments) do
    shell = Mix.shell()
    Mix.shell(Mix.Shell.Process)
    capture_io(:stderr, fn -> assert catch_exit(Task.run(arguments)) == {:shutdown, 1} end)
    assert_received {:mix_shell, :error, [sentence]}
    refute_received {:mix_shell, _kind, _text}
    Mix.shell(shell)
    sentence
  end

  # In the environment of the tests, where everything is compiled.
  defp user_runs(arguments),
    do: UserMix.run(".", ["echo_data.demo" | arguments], env: [{"MIX_ENV", "test"}])
end
