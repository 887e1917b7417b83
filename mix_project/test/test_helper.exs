EchoData.Snowflake.start(4)
ExUnit.start()
