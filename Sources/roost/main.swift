print("roost: not built yet")
