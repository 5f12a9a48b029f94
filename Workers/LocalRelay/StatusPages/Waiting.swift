internal import Contracts
internal import Frames
internal import Wording

/// What waits for a person, in groups: each thing with the command to type. The page itself changes nothing.
struct Waiting: Sendable {
  /// One thing.
  struct Item: Sendable {
    var subject: String
    var text: String
    var commands: [String]
  }

  /// Things of one kind.
  struct Group: Sendable {
    /// A part of its id on the page.
    var id: String
    var title: String
    /// The first ones; at most ``StatusPage/listMaximum``.
    var items: [Item]
    /// How many there are.
    var count: Int
    /// The command that shows all.
    var command: String
  }

  private(set) var groups: [Group] = []

  /// Publications that no relay took are shown for so many seconds after they were accepted: a week. The planner keeps
  /// them longer, and nothing says that a person has seen them.
  static let publicationSeconds: Int64 = 7 * 86_400

  init(_ snapshot: RoostSnapshot) {
    addOrigins(snapshot.waitingOrigins)
    addRelays(snapshot)
    addPublications(snapshot)
    addPayments(snapshot.jobs)
    addDeadLetters(snapshot.supervisor)
  }

  private mutating func add(_ id: String, _ title: String, _ command: String, count: Int, _ items: [Item]) {
    guard !items.isEmpty else { return }
    groups.append(
      Group(
        id: id, title: title, items: Array(items.prefix(StatusPage.listMaximum)), count: max(count, items.count),
        command: command))
  }

  private mutating func addOrigins(_ origins: [String]) {
    add(
      "origins", "Web pages that wait to be let in", "roost client list", count: origins.count,
      origins.prefix(StatusPage.listMaximum).map { origin in
        let word = ShellWord.make(origin)
        return Item(
          subject: origin, text: "may do nothing here yet", commands: ["roost client allow \(word)"])
      })
  }

  /// Relays that refuse until an account authenticates or pays: of those in use, the ones that did so within the last
  /// hour.
  private mutating func addRelays(_ snapshot: RoostSnapshot) {
    let walls = snapshot.relays.flatMap { relay in
      (relay.remarks ?? []).filter { Self.isWall($0, now: snapshot.at) }.map { (relay, $0) }
    }.sorted { ($1.1.at, $0.0.relay) < ($0.1.at, $1.0.relay) }
    add(
      "relays", "Relays that want an account or money", "roost relay list", count: walls.count,
      walls.prefix(StatusPage.listMaximum).map { relay, remark in
        let advice = RelayRemarkText.advice(remark).map { ": \($0)" } ?? ""
        return Item(
          subject: relay.relay, text: RelayRemarkText.words(remark) + advice,
          commands: ["roost relay info \(ShellWord.make(relay.relay))"])
      })
  }

  /// Whether a relay has recently refused, and will refuse until a person does something.
  static func isWall(_ remark: RelayRemark, now: Int64) -> Bool {
    guard now - remark.at <= RelayRemarkText.recentSeconds else { return false }
    return switch remark.kind {
    case .authWall: true
    case .refusedRequest, .refusedEvent: remark.about.map { accessWords.contains($0) } ?? false
    case .capped, .notice: false
    }
  }

  /// What refusals are about that end with an account, a membership or a payment.
  private static let accessWords: Set<String> = ["authentication", "restricted"]

  private mutating func addPublications(_ snapshot: RoostSnapshot) {
    let failed = snapshot.failedPublications.filter { snapshot.at - $0.acceptedAt <= Self.publicationSeconds }
    let isCut = failed.count == snapshot.failedPublications.count
    let known = snapshot.plan.value?.publications[Publication.State.failed.rawValue] ?? 0
    add(
      "publications", "Publications that no relay took", "roost queue list --state failed",
      count: isCut ? known : failed.count,
      failed.prefix(StatusPage.listMaximum).map { publication in
        let why = publication.targets.compactMap(\.message).first.map { ": \($0)" } ?? ""
        let relays = Amount.count(publication.targets.count, "relay")
        return Item(
          subject: "kind \(publication.kind), \(CalendarTime.text(publication.acceptedAt)) UTC",
          text: "refused or not reached, \(relays)\(why)",
          commands: ["roost queue show \(publication.id)", "roost queue retry \(publication.id)"])
      })
  }

  private mutating func addPayments(_ jobs: Told<TrackingStatus>) {
    guard let open = jobs.value?.openPayments, open.count > 0 else { return }
    let payments = Amount.count(open.count, "payment")
    add(
      "payments", "Jobs that ask for money", "roost job list", count: 1,
      [
        Item(
          subject: payments, text: "of \(Amount.satoshis(open.amount)) to approve or to deny",
          commands: ["roost job list"])
      ])
  }

  private mutating func addDeadLetters(_ supervisor: Told<SupervisorStatus>) {
    guard let status = supervisor.value else { return }
    add(
      "letters", "Messages that workers have died over", "roost dead-letters list", count: status.deadLetters,
      (status.latestDeadLetters ?? []).map { letter in
        let deaths = letter.deliveries == 1 ? "once" : "\(letter.deliveries) times"
        return Item(
          subject: letter.worker, text: "died \(deaths) with \(letter.method) from \(letter.sender), \(letter.time)",
          commands: [
            "roost dead-letters show \(ShellWord.make(letter.id))",
            "roost dead-letters retry \(ShellWord.make(letter.id))",
          ])
      })
  }
}
