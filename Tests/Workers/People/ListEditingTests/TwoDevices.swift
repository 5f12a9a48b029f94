import Clocks
import Cryptography
import Frames
import Nostr
import Testing

@testable import ListEditing

/// A relay that keeps the newest version.
struct KeepingRelay {
  let name: String
  var isUp = true
  var versions: [Event] = []
  /// What it answers the other device: nil: the newest version it has; else as many versions before that, or none.
  var lag: Int?

  var newest: Event? { versions.last }

  /// Takes a version, unless it has a newer one.
  mutating func take(_ event: Event) -> Bool {
    if let newest, (newest.createdAt, event.id) > (event.createdAt, newest.id) { return false }
    if newest?.id != event.id { versions.append(event) }
    return true
  }

  var answer: Event? {
    guard let lag else { return newest }
    return versions.count > lag ? versions[versions.count - 1 - lag] : nil
  }
}

/// This device, another one that writes whole lists, and relays that come and go.
struct TwoDevices {
  enum Shape: String, CaseIterable, Sendable {
    case follows, profile, hidden
  }

  let shape: Shape
  /// Whether relays answer the other device with older lists than they have, or with none.
  let areRelaysLying: Bool
  var random: SeededGenerator
  var history: ListHistory
  var relays: [KeepingRelay] = []
  var now: Int64 = 1_700_000_000
  /// What was added and not removed.
  var expected: Set<Int> = []
  /// What this device added: where relays lie, each device removes its own only.
  var ours: Set<Int> = []
  /// What the other device removed from an old list so that it looks as if nothing had been meant: the list is the
  /// same as another version, or lacks most. Then the entry stays, and nothing is lost.
  var unclear: Set<Int> = []
  /// The entries of every version.
  var versions: Set<Set<Int>> = []
  var next = 0
  var isRunning = true
  var versionCount = 0
  var mergeCount = 0
  /// The relays that have to get each version yet.
  var waiting: [(event: Event, relays: [Int])] = []
  /// The ledger's events, and what the signer decrypts.
  var kept: [EventID: Event] = [:]
  var rows: [EventID: ListRecord] = [:]
  var rowOrder: [EventID] = []
  var memo: ListMemo?
  var plain: [String: String] = [:]

  init(_ shape: Shape, seed: UInt64, areRelaysLying: Bool, startingWith count: Int) throws {
    self.shape = shape
    self.areRelaysLying = areRelaysLying
    random = SeededGenerator(seed: seed)
    let kind: UInt16 = [.follows: 3, .profile: 0, .hidden: 10_000][shape] ?? 3
    history = ListHistory(kind: kind, author: Author.key, salt: Array(repeating: 3, count: 16))
    relays = (0..<4).map { KeepingRelay(name: "r\($0)") }
    expected = Set(0..<count)
    next = count
    let first = try written(ListContents(none: kind), adding: Array(0..<count), removing: [])
    for place in relays.indices {
      _ = relays[place].take(first)
      try received(first, from: place)
    }
    try edit()
    try deliver()
  }

  // MARK: Entries

  static func key(_ number: Int) -> String { Author.octets(number + 1).description }

  func change(_ number: Int, isAdded: Bool) -> ListChange {
    switch shape {
    case .follows: isAdded ? .add("p", Self.key(number)) : .remove("p", Self.key(number))
    case .profile: isAdded ? .set("f\(number)", json: "\(number)") : .unset("f\(number)")
    case .hidden:
      isAdded
        ? .add("word", "w\(number)", to: number % 3 == 0 ? .open : .hidden)
        : .remove("word", "w\(number)")
    }
  }

  func entries(_ contents: ListContents) -> [Int] {
    func number(_ tag: [String]) -> Int? {
      tag.count < 2 ? nil : shape == .follows ? Int(tag[1], radix: 16).map { $0 - 1 } : Int(tag[1].dropFirst())
    }
    let state = ListState(contents)
    #expect(!state.isOpaque)
    return state.keys.compactMap { key in
      shape == .profile ? Int(key.name.dropFirst()) : number(state[key]?.first ?? [])
    }
  }

  mutating func signed(_ contents: ListContents, at time: Int64) -> Event {
    var encrypted: String?
    if contents.mustEncrypt {
      versionCount += 1
      let digits = String(versionCount)
      let text = "Ag" + String(repeating: "A", count: 140 - digits.count) + digits
      plain[text] = contents.hiddenText
      encrypted = text
    }
    if areRelaysLying { versions.insert(Set(entries(contents))) }
    return Author.event(contents, at: time, encrypted: encrypted)
  }

  mutating func written(_ contents: ListContents, adding: [Int], removing: [Int]) throws -> Event {
    let changes = adding.map { change($0, isAdded: true) } + removing.map { change($0, isAdded: false) }
    var contents = contents
    for part in stride(from: 0, to: changes.count, by: ListChange.countMaximum) {
      contents = try contents.applying(Array(changes[part...].prefix(ListChange.countMaximum))) ?? contents
    }
    return signed(contents, at: now)
  }

  // MARK: This device

  mutating func received(_ event: Event, from place: Int) throws {
    try store(history.received(event, hiddenText: plain[event.content], from: relays[place].name, at: now), event)
  }

  mutating func store(_ keeping: ListKeeping, _ event: Event? = nil) throws {
    if let event, keeping.changed.contains(event.id) { kept[event.id] = event }
    for id in keeping.forgotten.union(keeping.dropped) { kept[id] = nil }
    for id in keeping.dropped { rows[id] = nil }
    if !keeping.dropped.isEmpty { rowOrder.removeAll { keeping.dropped.contains($0) } }
    // A new row has the last place; rows are written in the order of the records.
    for record in history.records.suffix(1) where rows[record.id] == nil { rowOrder.append(record.id) }
    for id in keeping.changed {
      rows[id] = try Self.stored(history.records[try #require(history.places[id])])
    }
    if memo != history.memo { memo = try Self.stored(history.memo) }
  }

  /// As it is read from a ledger.
  static func stored<Value: Codable>(_ value: Value) throws -> Value {
    try JSONPayload.decode(Value.self, from: JSONPayload.encode(value))
  }

  /// What the relays that are up have.
  mutating func poll() throws {
    for place in relays.indices where relays[place].isUp {
      if let event = relays[place].newest { try received(event, from: place) }
    }
  }

  /// Publishes what waits, where relays are up.
  mutating func deliver() throws {
    for index in waiting.indices {
      var left: [Int] = []
      for place in waiting[index].relays {
        guard relays[place].isUp else {
          left.append(place)
          continue
        }
        if relays[place].take(waiting[index].event) {
          try store(history.confirmed(waiting[index].event.id, by: relays[place].name, at: now))
        }
      }
      waiting[index].relays = left
    }
    waiting.removeAll { $0.relays.isEmpty }
  }

  /// One edit, on what came before it.
  mutating func edit() throws {
    let there = history.current.map { entries($0.contents) } ?? []
    let mayRemove = there.filter { !areRelaysLying || ours.contains($0) }
    let isRemoval = !mayRemove.isEmpty && Int.random(in: 0..<3, using: &random) == 0
    if history.isUndecided, Bool.random(using: &random) { try merge() }
    let removed = isRemoval ? mayRemove.randomElement(using: &random) : nil
    let changed: ListChange
    if let removed {
      changed = change(removed, isAdded: false)
    } else {
      changed = change(next, isAdded: true)
    }
    guard try write(.changes([changed])) else { return }
    if let removed {
      expected.remove(removed)
    } else {
      expected.insert(next)
      ours.insert(next)
      next += 1
    }
  }

  mutating func merge() throws { try write(nil) }

  /// - Returns: false if it crashed before the version was in the ledger: then the edit was not accepted.
  @discardableResult
  mutating func write(_ edit: ListEdit?) throws -> Bool {
    let step = try history.next(edit)
    if Int.random(in: 0..<30, using: &random) == 0 {
      try crash()
      return false
    }
    guard let contents = step.contents else {
      try store(history.settled(step))
      return true
    }
    if step.merge != nil { mergeCount += 1 }
    now = max(now, (step.newestCreatedAt ?? 0) + 1)
    let event = signed(contents, at: now)
    try store(history.wrote(event, step), event)
    waiting.append((event, Array(relays.indices)))
    if Int.random(in: 0..<30, using: &random) == 0 { try crash() }
    now += 2
    try deliver()
    return true
  }

  /// All that remains is what was stored.
  mutating func crash() throws {
    guard let memo else { return }
    let restored = ListHistory(
      kind: history.kind, author: history.author, identifier: history.identifier, memo: memo,
      records: rowOrder.compactMap { rows[$0] }
    ) { id in kept[id].map { ListContents($0, hiddenText: plain[$0.content]) } }
    history = try #require(restored)
  }

  // MARK: The other device

  /// It reads the newest of some relays, changes one entry, and writes its whole list to them.
  mutating func writeElsewhere() throws {
    let reached = relays.indices.filter { relays[$0].isUp && Int.random(in: 0..<3, using: &random) > 0 }
    guard !reached.isEmpty else { return }
    if areRelaysLying {
      for place in reached { relays[place].lag = [nil, nil, 1, 3, 9, 10_000].randomElement(using: &random) ?? nil }
    }
    let found = reached.compactMap { relays[$0].answer }.max { ($0.createdAt, $1.id) < ($1.createdAt, $0.id) }
    let contents =
      found.map { ListContents($0, hiddenText: plain[$0.content]) } ?? ListContents(none: history.kind)
    let read = entries(contents)
    // Where relays lie it removes what it added itself, and once: removed twice from different versions, an entry makes
    // two bases equally near, and the newer one is taken.
    let there = read.filter { !areRelaysLying || !ours.contains($0) && expected.contains($0) }
    var removed: Int?
    if !there.isEmpty, Int.random(in: 0..<3, using: &random) == 0 { removed = there.randomElement(using: &random) }
    let isKnown = removed.map { versions.contains(Set(read).subtracting([$0])) } ?? false
    let event = try written(contents, adding: removed == nil ? [next] : [], removing: removed.map { [$0] } ?? [])
    // A list that no relay takes was not changed.
    guard !reached.filter({ relays[$0].take(event) }).isEmpty else { return }
    if let removed {
      expected.remove(removed)
      if areRelaysLying, isKnown || read.count * 4 <= expected.count * 3 { unclear.insert(removed) }
    } else {
      expected.insert(next)
      next += 1
    }
    // This device reads all relays that are up, unless it does not run.
    guard isRunning else { return }
    for place in reached where relays[place].newest?.id == event.id { try received(event, from: place) }
  }

  // MARK: The whole

  mutating func run(edits count: Int) throws {
    var elsewhere = 0
    for _ in 0..<count {
      now += 2
      for place in relays.indices where Int.random(in: 0..<6, using: &random) == 0 { relays[place].isUp.toggle() }
      isRunning = Int.random(in: 0..<8, using: &random) > 0
      if isRunning {
        try poll()
        try deliver()
      }
      if Bool.random(using: &random) || !isRunning {
        try writeElsewhere()
        elsewhere += 1
        if !isRunning {
          // It returns, with what is stored, before the other device writes again.
          try crash()
          now += 2
          try poll()
        }
      } else {
        try edit()
      }
      if Bool.random(using: &random) { try merge() }
    }
    for place in relays.indices { relays[place].isUp = true }
    for _ in 0..<10 {
      now += 2
      try poll()
      try merge()
      try deliver()
    }
  }
}
