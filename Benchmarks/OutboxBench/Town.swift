import RelaySelection

// One world, as Benchmarks/outbox_town.py serves it by relays over sockets to the real daemon, and what the planner's
// three ways of choosing are worth in it by simulation. Two sessions: in the first one learns, the second is scored.

extension Run {
  /// The number of relays that the planner keeps open for feeds.
  static let plannerCount = 12
  /// The session that is scored.
  static let scored = 1

  /// The recall of the relays that stay open, by way of choosing.
  func planner() -> [(mode: SelectionMode, recall: Double)] {
    let conditions = Conditions(windowMinutes: World.week)
    var client = Client(world, conditions)
    return [SelectionMode.greedy, .direct, .learned].map { mode in
      client.restart()
      let budget = SelectionBudget(live: Self.plannerCount, visits: mode == .learned ? 20 : 0)
      var own = Own(mode, budget, seed: seed)
      own.knowsMonitors = false
      for session in 0..<Self.scored {
        client.play(own.choose([], reachable(client, session), in: session), in: session)
        own.learn(from: client, in: session)
      }
      var plan = own.choose([], reachable(client, Self.scored), in: Self.scored)
      plan.visits = []
      client.play(plan, in: Self.scored)
      return (mode, client.score(in: Self.scored).recall)
    }
  }

  /// The lists without the relays that nothing answers at: the planner leaves those out as it meets them.
  private func reachable(_ client: Client, _ session: Int) -> RelayCandidates {
    var candidates = RelayCandidates(relayCount: world.relays.count)
    for author in world.authors.indices {
      let list = world.list(of: author, at: Int32(Self.scored) * World.week)
      candidates.add(Int32(author), list.filter { isServed($0) })
    }
    return candidates
  }

  /// Whether a relay takes connections in the session that is scored; in a town it is so all the time.
  private func isServed(_ relay: Int32) -> Bool {
    let truth = world.relays[Int(relay)]
    return truth.kind != .offline && truth.isUp[Self.scored]
  }

  /// Lines for the town: the relays, the authors' lists, and the events of two weeks with the relays that hold each.
  func printTown() {
    for (number, relay) in world.relays.enumerated() {
      let kind = !isServed(Int32(number)) ? "dead" : relay.isReadable ? "open" : "closed"
      let maximum = relay.resultMaximum == .max ? 0 : relay.resultMaximum
      print("relay", number, kind, maximum, separator: "\t")
    }
    for author in world.authors.indices {
      let list = world.list(of: author, at: Int32(Self.scored) * World.week)
      print("author", author, list.map(String.init).joined(separator: ","), separator: "\t")
    }
    let client = Client(world, Conditions(windowMinutes: World.week))
    let end = Client.end(of: Self.scored)
    client.forEachHeld(back: 2 * World.week, in: Self.scored) { author, place, holders in
      let relays = world.authors[author].relays
      let held = relays.indices.filter { holders & (1 << UInt32($0)) != 0 }.map { String(relays[$0]) }
      print("event", author, end - world.minutes[place], held.joined(separator: ","), separator: "\t")
    }
  }
}
