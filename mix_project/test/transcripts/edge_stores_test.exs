defmodule EchoData.Transcripts.EdgeStoresTest do
  use EchoData.TranscriptTests, of: EchoData.Conformance.EdgeStores
end
