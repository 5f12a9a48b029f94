internal import Contracts
internal import EventLoop
internal import Frames
internal import MethodReference
internal import RoostClient

/// One tool of `roost mcp`. Its parameters are members of a method's arguments, with the schema that
/// `docs/methods.json` has for them, and parameters of its own.
struct MCPTool: Sendable {
  /// What a tool does; JSON comes back.
  typealias Body = @Sendable @EventLoopActor (MCPCall) async throws(Refusal) -> [UInt8]

  let name: String
  /// What must be granted before it exists.
  let grant: MCPGrant?
  let run: Body
  /// What it is for, for the program that chooses among the tools.
  private let text: String
  private var parameters: [String: JSONValue]
  private var required: [String]

  /// A tool with parameters of a method, and with `more` of its own, which are required if they are in `requires`.
  init(
    _ name: String, of method: MethodDeclaration? = nil, _ names: [String] = [], more: [String: JSONValue] = [:],
    requires: [String] = [], grant: MCPGrant? = nil, _ text: String, run: @escaping Body
  ) {
    (self.name, self.text, self.grant, self.run) = (name, text, grant, run)
    (parameters, required) = (more, requires)
    guard let method else { return }
    let document = MethodReference.document(of: method)
    guard case .string(let reference)? = document["arguments"]?["schema"]?["$ref"],
      let schema = document["definitions"]?[String(reference.split(separator: "/").last ?? "")],
      case .object(let members)? = schema["properties"], case .array(let needed) = schema["required"] ?? .array([])
    else { return }
    parameters.merge(members.filter { names.contains($0.key) }) { own, _ in own }
    required += names.filter { needed.contains(.string($0)) }
  }

  /// As `tools/list` shows it.
  var description: JSONValue {
    .object([
      "name": .string(name), "description": .string(text),
      "inputSchema": .object([
        "type": .string("object"), "properties": .object(parameters),
        "required": .array(required.map { .string($0) }), "additionalProperties": .bool(false),
      ]),
      "annotations": .object(["readOnlyHint": .bool(grant != .write)]),
    ])
  }

  /// Refuses arguments that the tool does not have; the worker checks their values.
  func check(_ arguments: JSONValue) throws(Refusal) {
    guard case .object(let members) = arguments else {
      throw Refusal(.badRequest, "'arguments' is not an object", outcome: .notStarted)
    }
    for name in members.keys.sorted() where parameters[name] == nil {
      let hint = NearestName.hint(name, among: parameters.keys)
      throw Refusal(.badRequest, "\(self.name) has no argument '\(name)'\(hint)", outcome: .notStarted)
    }
    for name in required where members[name] == nil {
      throw Refusal(.badRequest, "\(self.name): '\(name)' is missing", outcome: .notStarted)
    }
  }

  // MARK: The tools

  static let all: [MCPTool] = events + people + sending + granted

  private static let events: [MCPTool] = [
    MCPTool(
      "search_events", of: StoreMethod.query.declaration, ["filters", "limit"], more: ["cursor": cursor],
      "Stored Nostr events that any of the filters (NIP-01) matches, the newest first, at most 'limit' (1 to 500, "
        + "default 20). A filter may have 'search'. With 'next' in the answer there may be more: call it again with "
        + "that as 'cursor'."
    ) { call throws(Refusal) in try await MCPSearch(call).page() },
    MCPTool(
      "count_events", of: StoreMethod.count.declaration, ["filters"],
      "How many stored events any of the filters (NIP-01) matches."
    ) { call throws(Refusal) in try await MCPSearch(call).count() },
    MCPTool(
      "watch_events", of: StoreMethod.observe.declaration, ["filters"], more: ["seconds": seconds, "limit": limit],
      "Waits for new events that any of the filters (NIP-01) matches: for 'seconds' (1 to 300, default 30), or until "
        + "there are 'limit' of them (1 to 500, default 20). Relays are asked too."
    ) { call throws(Refusal) in try await MCPSearch(call).watch() },
    MCPTool(
      "event_relays", of: StoreMethod.seen.declaration, ["id"], "The relays that a stored event came from."
    ) { call throws(Refusal) in try await call.request(StoreMethod.seen.name) },
  ]

  private static let people: [MCPTool] = [
    MCPTool(
      "get_profiles", of: PeopleMethod.profiles.declaration, ["keys", "policy"],
      "What people say of themselves: their names, pictures and descriptions."
    ) { call throws(Refusal) in try await call.collect(PeopleMethod.profiles.name) },
    MCPTool(
      "find_people", of: PeopleMethod.find.declaration, ["text", "account", "limit"],
      "Whom a few letters of a name may mean: those whom an account follows come first."
    ) { call throws(Refusal) in try await call.collect(PeopleMethod.find.name) },
    MCPTool(
      "resolve_name", of: RelayMethod.resolveName.declaration, ["name"],
      "The key and the relays that an internet identifier (NIP-05, name@domain) leads to."
    ) { call throws(Refusal) in try await call.request(RelayMethod.resolveName.name) },
    MCPTool(
      "read_feed", of: PeopleMethod.feed.declaration, ["account", "kinds", "limit", "policy"],
      "What the people write whom an account follows, the newest first."
    ) { call throws(Refusal) in try await call.collectStored(PeopleMethod.feed.name) },
    MCPTool(
      "read_inbox", of: PeopleMethod.inbox.declaration, ["account", "only", "limit", "policy"],
      "What others write to an account in public: answers, mentions, quotes, reactions, reposts and zaps."
    ) { call throws(Refusal) in try await call.collectStored(PeopleMethod.inbox.name) },
    MCPTool(
      "get_list", of: PeopleMethod.list.declaration, ["kind", "account", "identifier"],
      "The newest version of an account's list, by its kind: 3 follows, 10000 mutes, 10002 relays, 30000 people."
    ) { call throws(Refusal) in try await call.list() },
  ]

  private static let sending: [MCPTool] = [
    MCPTool("list_relays", of: PlanMethod.relays.declaration, [], "The known relays, why each is known, and how it is.")
    {
      call throws(Refusal) in try await call.request(PlanMethod.relays.name)
    },
    MCPTool(
      "list_publications", of: PlanMethod.publications.declaration, ["ids", "states", "limit"],
      "What was published from here, and which relays have it, the newest first."
    ) { call throws(Refusal) in try await call.collect(PlanMethod.publications.name) },
    MCPTool(
      "get_status", of: nil, [], "Figures of the store, of sending, and of how complete one's own events are here."
    ) {
      call throws(Refusal) in try await call.status()
    },
  ]

  private static let granted: [MCPTool] = [
    MCPTool(
      "list_messages", of: LinkMethod.listMessages.declaration, ["account", "unread", "limit", "before"],
      grant: .private, "Conversations with private messages, the newest first."
    ) { call throws(Refusal) in try await call.collect(LinkMethod.listMessages.name) },
    MCPTool(
      "read_messages", of: LinkMethod.showMessages.declaration, ["account", "conversation", "limit", "before"],
      grant: .private, "The private messages of a conversation, the newest first."
    ) { call throws(Refusal) in try await call.collect(LinkMethod.showMessages.name) },
    MCPTool(
      "workers", of: SupervisorMethod.status.declaration, [], grant: .supervisor,
      "The states of Roost's workers, and its clients."
    ) { call throws(Refusal) in try await call.request(SupervisorMethod.status.name) },
    MCPTool(
      "why", of: SupervisorMethod.why.declaration, ["worker"], grant: .supervisor, "Explains the state of a worker."
    ) { call throws(Refusal) in try await call.request(SupervisorMethod.why.name) },
    MCPTool(
      "publish_note", more: ["text": text("The text of the note."), "account": account], requires: ["text"],
      grant: .write, "Signs a note (kind 1) for an account and publishes it: everyone can read it, for good."
    ) { call throws(Refusal) in try await call.publishNote() },
    MCPTool(
      "follow", more: ["keys": keys, "account": account], requires: ["keys"], grant: .write,
      "Adds people to the follow list of an account, and publishes it."
    ) { call throws(Refusal) in try await call.follow() },
    MCPTool(
      "unfollow", more: ["keys": keys, "account": account], requires: ["keys"], grant: .write,
      "Removes people from the follow list of an account, and publishes it."
    ) { call throws(Refusal) in try await call.unfollow() },
  ]

  // MARK: Parameters

  private static func text(_ description: String) -> JSONValue {
    .object(["type": .string("string"), "description": .string(description)])
  }

  private static func number(from minimum: Int64, to maximum: Int64) -> JSONValue {
    .object(["type": .string("integer"), "minimum": .integer(minimum), "maximum": .integer(maximum)])
  }

  private static let account = text("The account: its name or its key. May be left out if there is only one.")
  private static let cursor = text("Where the page begins: 'next' of the page before.")
  private static let limit = number(from: 1, to: MCPSearch.limitMaximum)
  private static let seconds = number(from: 1, to: MCPSearch.secondsMaximum)
  private static let keys = JSONValue.object([
    "type": .string("array"), "items": .object(["type": .string("string")]),
    "description": .string("The people: keys of 64 hexadecimal digits, or npub."),
  ])
}
