import Frames

/// What a test asks of the fakes: plain HTTP/1.1 and JSON, on a port of its own.
///
///     POST /order     {"service":"apns","token":"…","answers":[{"status":410,"reason":"Unregistered","timestamp":1}]}
///                     {"service":"apns","mode":"goaway","count":1,"left":2,"reason":"Shutdown"}
///                     {"service":"apns","mode":"hold"}    {"service":"apns","release":true,"left":2}
///                     {"service":"apns","streamMaximum":1}     {"service":"fcm","revoke":true}
///                     {"service":"oauth","accessSeconds":65}
///     POST /clock     {"advanceMilliseconds":1200000}
///     GET /requests?service=apns      GET /counters
enum ControlDesk {
  static func reply(to arrival: Arrival, _ world: FakeWorld) -> Reply {
    let json = JSONValue(json: arrival.body)
    let parts = arrival.path.split(separator: "?", maxSplits: 1)
    switch (arrival.method, parts.first ?? "") {
    case ("POST", "/order"): return order(json, world)
    case ("POST", "/clock"):
      guard let advance = json?["advanceMilliseconds"]?.whole else { return objection("no advanceMilliseconds") }
      world.clockOffset += advance
      return Reply(200, .object(["milliseconds": .integer(world.milliseconds)]))
    case ("GET", "/requests"):
      guard parts.count == 2 else { return Reply(200, .array(world.journal)) }
      let name = parts[1].split(separator: "=").last.map(String.init)
      return Reply(200, .array(world.journal.filter { $0["service"]?.text == name }))
    case ("GET", "/counters"): return Reply(200, world.counters)
    default: return objection("no such order: \(arrival.method) \(arrival.path)")
    }
  }

  private static func order(_ json: JSONValue?, _ world: FakeWorld) -> Reply {
    guard let json, let service = json["service"]?.text.flatMap(Service.init) else { return objection("no service") }
    if let maximum = json["streamMaximum"]?.whole { world.allow(Int(maximum), service) }
    if let seconds = json["accessSeconds"]?.whole { world.fcm.accessSeconds = seconds }
    if json["revoke"] == .bool(true) { world.fcm.revoke() }
    if let name = json["mode"]?.text {
      guard let kind = Mood.Kind(rawValue: name) else { return objection("no such mode: \(name)") }
      var mood = Mood(kind: kind)
      mood.remaining = json["count"]?.whole.map { Int($0) }
      if kind == .goaway, mood.remaining == nil { mood.remaining = 1 }
      mood.left = Int(json["left"]?.whole ?? 0)
      mood.reason = json["reason"]?.text ?? mood.reason
      mood.delayMilliseconds = json["delayMilliseconds"]?.whole ?? mood.delayMilliseconds
      world.feel(mood, service)
    }
    if let answers = json["answers"]?.elements {
      let read = answers.compactMap(OrderedAnswer.init)
      guard read.count == answers.count else { return objection("an answer cannot be read") }
      world.order(service, json["token"]?.text ?? "*", read)
    }
    if json["release"] == .bool(true) {
      world.release(service, left: Int(json["left"]?.whole ?? 0), reason: json["reason"]?.text ?? "Shutdown")
    }
    return Reply(200, .object([:]))
  }

  private static func objection(_ text: String) -> Reply { Reply(400, .object(["error": .string(text)])) }
}
