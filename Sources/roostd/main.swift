print("roostd: not built yet")
