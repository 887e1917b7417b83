defmodule EchoData.Transcripts.KeyspaceTest do
  use EchoData.TranscriptTests, of: EchoData.Conformance.Keyspace
end
