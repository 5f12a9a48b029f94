internal import ArgumentParser
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import LinuxSystem
internal import Nostr
internal import RoostClient
internal import Rendering

/// `roost profile`
struct ProfileGroup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "profile", abstract: "Shows a person, or changes one's own profile.",
    subcommands: [ProfileCommand.self, ProfileEdit.self], defaultSubcommand: ProfileCommand.self)
}

/// `roost profile show`
struct ProfileCommand: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Shows what is stored of a person: name, addresses, relays, whom they follow, their last note.",
    discussion: """
      KEY is an npub, an nprofile, 64 hexadecimal digits, the name of an account, or name@domain (NIP-05), which is \
      looked up. What is shown is what the person claims; the nip05 in it is not looked up. Exit code 1 when nothing is \
      stored.

        roost profile npub1…
      """)
  @Argument(help: "Whom.")
  var key: String
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let notice = session.storeNotice()
    defer { notice?.end() }
    let key = try await session.publicKey(key)
    let person = try await session.client.person(key)
    let followers = Filter(kinds: [EventKind.follows], tags: TagLetter("p").map { [$0: [TagValue("\(key)")]] } ?? [:])
    let count = try await session.client.count(followers)
    // `try?`: a profile can be shown without the signer.
    let accounts = (try? await session.client.accounts()) ?? []
    let view = PersonView(
      person, followerCount: count, account: accounts.first { $0.publicKey == "\(key)" }?.name)
    await session.print(
      PersonJSON(view), ProfileText.lines(view, now: WallClock.seconds, session.style))
    return person.isUnknown ? .failed : .done
  }
}
