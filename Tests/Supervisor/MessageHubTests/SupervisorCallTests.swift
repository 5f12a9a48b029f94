import Contracts
import Frames
import Testing

@testable import MessageHub

@Suite struct SupervisorCallTests {
  @Test("A call to the supervisor is served by the shell, answered or refused once")
  func served() throws {
    let bench = HubBench()
    let app = bench.client()
    bench.request("{}", from: app, method: .status)
    bench.request("{}", from: app, method: .status)
    try #require(bench.calls.count == 2)
    #expect(bench.calls[0].caller == bench.endpoint(of: app) && bench.calls[0].trace != 0)
    for _ in 0..<2 {
      bench.input { [calls = bench.calls] hub, now, actions in
        hub.answer(calls[0], payload: [1], now: now, actions: &actions)
        hub.refuse(calls[1], Refusal(.failed, "no", outcome: .done), actions: &actions)
      }
    }
    #expect(bench.takeAll(app).map(\.type) == [.response, .error])
    bench.expectNothingLeft()
  }

  @Test("A streamed answer is told when its caller has no more room, and when it has again")
  func room() throws {
    var limits = HubLimits()
    limits.clientMailboxFrames = 6
    let bench = HubBench(limits: limits)
    let app = bench.client("slow", window: Window(frames: 2, bytes: 100))
    bench.peers[app]!.grantsCredit = false
    bench.request(from: app, method: .status)
    let call = try #require(bench.calls.first)
    var mayContinue: [Bool] = []
    for part in 0..<6 as Range<UInt8> {
      bench.input { hub, now, actions in
        mayContinue.append(hub.answer(call, payload: [part], more: true, now: now, actions: &actions))
      }
    }
    #expect(mayContinue == [true, true, true, true, false, false])
    #expect(bench.roomNotices.isEmpty)
    bench.peers[app]!.grantsCredit = true
    #expect(bench.takeAll(app).map(\.payload) == (0..<6).map { [$0] })
    #expect(bench.roomNotices == [app])
    bench.input { hub, now, actions in #expect(hub.answer(call, payload: [9], now: now, actions: &actions)) }
    #expect(bench.take(app)?.payload == [9])
    bench.expectNothingLeft()
  }

  @Test(
    "The supervisor hears of a caller that cancels, leaves or whose time ran out, and can answer no more",
    arguments: 0..<3)
  func given(up way: Int) throws {
    let bench = HubBench()
    let app = bench.client()
    let id = bench.request(from: app, method: .status, ttl: 100)
    let call = try #require(bench.calls.first)
    switch way {
    case 0: bench.cancel(id, from: app)
    case 1: bench.pass(milliseconds: 100)
    default: bench.leave(app)
    }
    #expect(bench.cancelledCalls == [call])
    var isThere = true
    bench.input { isThere = $0.answer(call, payload: [], now: $1, actions: &$2) }
    #expect(!isThere)
    if way < 2 { #expect(bench.takeAll(app).map(\.type) == [.error]) }
    bench.expectNothingLeft()
  }

  @Test("The registry lists methods, topics, roles and the workers that have a mailbox")
  func registry() throws {
    let bench = HubBench()
    let client = bench.client()
    let ready = bench.worker("ready")
    let away = bench.worker("away")
    bench.leave(away)
    _ = bench.hub.reserveSeat(name: "stopped", role: .signer)
    let registry = bench.hub.registry()
    #expect(registry.methods["relay.publish"] == Registry.Method(number: 257, role: "relay-connector"))
    #expect(registry.topics["relay.states"] == 288 && registry.roles["signer"] == 8)
    #expect(registry.members.map(\.name) == ["ready", "away"] && registry.members.map(\.isReady) == [true, false])
    #expect(registry.members[0].endpoint == bench.endpoint(of: ready).rawValue)
    #expect(bench.hub.seats.all.filter(\.isConnected).map(\.index) == [client, ready])
  }

  @Test("A custom role's methods get numbers of their own and are called like any other")
  func customRole() throws {
    let table = AccessTable(customRoles: [
      .init(name: "bot", serves: ["bot.*"], mayCall: [], callableBy: ["client"])
    ])
    let bench = HubBench(table: table)
    let role = try #require(table.role(named: "bot"))
    let first = try bench.hub.register(methods: ["bot.run", "bot.stop"], of: role)
    let again = try bench.hub.register(methods: ["bot.run"], of: role)
    #expect(bench.registry(table).methods["bot.run"] == nil, "as it would be with another table")
    #expect(first.grew && !again.grew && first.numbers.first == again.numbers.first)
    let (app, bot) = (bench.client(), bench.worker("bot", role: role))
    bench.request("go", from: app, method: first.numbers[0])
    #expect(bench.take(bot)?.text == "go")
    bench.request(from: bot, method: .publish)
    #expect(bench.take(bot)?.refusal?.code == .denied)
  }

  @Test("A worker of one's own that does not read the supervisor's answer counts as busy")
  func unreadAnswer() throws {
    let table = AccessTable(customRoles: [
      .init(name: "bot", serves: ["bot.*"], mayCall: ["supervisor.*"], callableBy: [])
    ])
    let bench = HubBench(table: table)
    let role = try #require(table.role(named: "bot"))
    let bot = bench.worker("bot", role: role, window: Window(frames: 1, bytes: 100))
    bench.peers[bot]!.grantsCredit = false
    bench.request(from: bot, method: .status)
    let call = try #require(bench.calls.first)
    for _ in 0..<2 { bench.input { $0.answer(call, payload: [1], more: true, now: $1, actions: &$2) } }
    #expect(bench.busySince(bot) != nil)
    bench.checkAccounts()
  }

  @Test("What custom roles bring stays small enough to be told to everybody, and is allowed at the time it is brought")
  func customBounds() throws {
    var table = AccessTable(customRoles: [.init(name: "bot", serves: ["bot.*"], mayCall: [], callableBy: [])])
    let role = try #require(table.role(named: "bot"))
    func reason(_ methods: [String]) -> AccessTable.ServeProblem.Reason? {
      do throws(AccessTable.ServeProblem) { _ = try table.register(methods: methods, of: role) } catch {
        return error.reason
      }
      return nil
    }
    #expect(reason(["bot." + String(repeating: "m", count: 60)]) == nil)
    #expect(reason(["bot." + String(repeating: "m", count: 61)]) == .nameTooLong)
    #expect(reason(["relay.list"]) == .notAllowed && reason(["other.run"]) == .notAllowed)
    #expect(reason(["bot.\u{1B}[31m"]) == .notPrintable && reason(["bot.a b"]) == .notPrintable)
    // All or none: the one before the one that is refused is not in the table either.
    #expect(reason(["bot.first", "other.run"]) == .notAllowed && table["bot.first"] == nil)
    #expect(reason((1..<AccessTable.customMethodMaximum).map { "bot.\($0)" }) == nil)
    #expect(reason(["bot.more"]) == .tableFull && reason(["bot.1"]) == nil)
    table.adopt(customRoles: [])
    #expect(reason(["bot.1"]) == .notAllowed)
  }

  @Test("All seats can be taken, and one given back can be taken again")
  func seats() {
    let bench = HubBench()
    let seats = (0..<Endpoint.seatMaximum).compactMap { _ in
      bench.hub.joinClient(name: "app", role: .client, window: .standard)
    }
    #expect(seats.map(\.number) == Array(1...Endpoint.seatMaximum))
    let beyond = bench.hub.joinClient(name: "app", role: .client, window: .standard)
    #expect(beyond == nil)
    bench.leave(seats[16])
    #expect(bench.client() == seats[16])
  }
}

@Suite struct SharedMethodTests {
  @Test("A method of several workers reaches the one that is named; clients of other users may not call it")
  func backup() throws {
    let bench = HubBench()
    let (store, signer) = (bench.worker("event-store", role: .eventStore), bench.worker("signer", role: .signer))
    let (own, other) = (bench.client(), bench.client("other", isOfOtherUser: true))
    let method = try #require(AccessTable()["backup.hold"]).number
    bench.request("{}", from: own, method: method, to: bench.endpoint(of: signer))
    #expect(bench.take(signer)?.header.method == method && bench.take(store) == nil)
    bench.request("{}", from: own, method: method)
    bench.request("{}", from: own, method: method, to: Endpoint(role: Role.eventStore.number))
    bench.request("{}", from: own, method: method, to: bench.endpoint(of: other))
    #expect(bench.takeAll(own).map(\.type) == [.error, .error, .error])
    bench.request("{}", from: other, method: method, to: bench.endpoint(of: store))
    bench.request("{}", from: other, method: try #require(AccessTable()["supervisor.configuration"]).number)
    let refusals = bench.takeAll(other)
    #expect(refusals.map(\.type) == [.error, .error])
    #expect(refusals.allSatisfy { String(decoding: $0.payload, as: UTF8.self).contains("\"denied\"") })
    #expect(bench.take(store) == nil)
  }
}
