print("relay-connector: not built yet")
