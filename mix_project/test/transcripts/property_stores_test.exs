defmodule EchoData.Transcripts.PropertyStoresTest do
  use EchoData.TranscriptTests, of: EchoData.Conformance.PropertyStores
end
