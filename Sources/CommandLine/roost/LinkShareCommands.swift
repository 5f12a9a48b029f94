internal import ArgumentParser
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import LinkAddresses
internal import LinuxSystem
internal import QRCode
internal import RoostClient
internal import Rendering
internal import Wording

/// `roost links relays`
struct LinksRelaysCommand: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "relays", abstract: "Shows whether something can be sent now, and each relay with its last problem.")
  @OptionGroup var general: GeneralOptions

  private struct Answer: Encodable {
    let sending: SendingState?
    let relays: [PlanRelayList.Relay]
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let sending = try await session.waiting(for: LinkMethod.status.declaration) { () async throws(Refusal) in
      try await session.client.linksStatus().sending
    }
    let list = try await session.waiting(for: PlanMethod.relays.declaration) { () async throws(Refusal) in
      try await session.client.request(
        PlanMethod.relays, NoArguments(), options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
    }
    await session.print(
      Answer(sending: sending, relays: LinkText.sorted(list)), LinkText.relays(sending, list, session.style))
    return .done
  }
}

/// `roost links share`
struct LinksShareCommand: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "share", abstract: "Prints the npub of an account, and on a terminal draws it as a QR code.",
    discussion: """
      Others add you with it as a contact. Without colours (NO_COLOR, a pipe) only the npub is printed, unless --qr is given: \
      the code is then drawn without colours, for a dark ground.
      """)
  @Argument(help: ArgumentHelp("The account.", valueName: "account"))
  var account: String?
  @Flag(help: "Draw the QR code also where there are no colours.") var qr = false
  @OptionGroup var general: GeneralOptions

  private struct Answer: Encodable {
    let account: String
    let npub: String
    let publicKey: String
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let found = try session.account(account ?? AccountWord.unnamed.name, among: try await session.accounts())
    var lines = [VisibleText.make(found.npub)]
    if qr || session.style.isColoured, let code = QRCode(found.npub) {
      if let columns = Terminal.size(of: STDOUT_FILENO)?.columns, columns < QRText.columns(code) {
        session.note("The terminal is too narrow for the QR code: it needs \(QRText.columns(code)) columns.")
      } else {
        lines = QRText.lines(code, session.style) + lines
      }
    }
    await session.print(Answer(account: found.name, npub: found.npub, publicKey: found.publicKey), lines)
    return .done
  }
}

/// `roost links open`
struct LinksOpenCommand: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "open", abstract: "Opens the page of links, or a linkstr://open link, in a browser on this machine.",
    discussion: """
      Prints an address for your browser: one browser comes in with it, once, within ten minutes. A link is shown on the \
      page first, and nothing of it is played before a click. With --read the link in it is only printed, and with \
      --make one is made; these need no supervisor.

        xdg-open "$(roost links open)"
        roost links open --read 'linkstr://open?p=…'
        roost links open --make https://example.com --post note1…
      """)
  @Argument(help: ArgumentHelp("A linkstr://open link.", valueName: "link"))
  var link: String?
  @Flag(help: "Only print the link in it.") var read = false
  @Option(help: ArgumentHelp("Make a linkstr://open link for this one.", valueName: "url"))
  var make: String?
  @Option(help: ArgumentHelp("The post that it is from: its whole id.", valueName: "post"))
  var post: String?
  @OptionGroup var general: GeneralOptions

  private struct Answer: Encodable {
    let link: String
    let url: String
    let timestamp: Int64
    let post: String

    init(_ link: LinkDeepLink) {
      (self.link, url, timestamp, post) = (link.text, link.url.text, link.timestamp, link.messageID)
    }
  }

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if link != nil, make != nil { throw ValidationError("Give a link to open, or --make and --post.") }
    if read, link == nil { throw ValidationError("--read wants a linkstr://open link.") }
    if (make == nil) != (post == nil) { throw ValidationError("--make and --post belong together.") }
    if let make {
      do throws(LinkURLFault) { _ = try LinkURL(make) } catch { throw ValidationError("That is no link: \(error).") }
    }
    if let post {
      do throws(Refusal) { _ = try PublicationArgument.eventID(post) } catch {
        throw ValidationError("\(error.message).")
      }
    }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    if make != nil {
      let made = try made()
      await session.print(Answer(made), [made.text])
      return .done
    }
    if read, let link {
      do throws(LinkDeepLinkFault) {
        let read = try LinkDeepLink(link)
        let time = CalendarTime.text(read.timestamp)
        await session.print(Answer(read), [read.url.text, session.style.paint("  shared \(time)", .dim)])
        return .done
      } catch {
        throw Refusal(.badRequest, "that is no link of linkstr: \(error)", outcome: .notStarted)
      }
    }
    try await session.client.connect()
    let page = try await session.waiting(for: PageMethod.enter.declaration) { () async throws(Refusal) in
      try await session.client.pageAddress(PageEnter(link: link))
    }
    await session.print(page, [page.address])
    session.note("For one browser on this machine, once, within \(page.seconds / 60) minutes.")
    return .done
  }

  private func made() throws(Refusal) -> LinkDeepLink {
    let id = try PublicationArgument.eventID(post ?? "")
    let url: LinkURL
    do throws(LinkURLFault) { url = try LinkURL(make ?? "") } catch {
      throw Refusal(.badRequest, "that is no link: \(error)", outcome: .notStarted)
    }
    do throws(LinkDeepLinkFault) {
      return try LinkDeepLink(url: url, timestamp: WallClock.seconds, messageID: "\(id)")
    } catch {
      throw Refusal(.badRequest, "\(error)", outcome: .notStarted)
    }
  }
}
