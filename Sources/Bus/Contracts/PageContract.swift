public import Frames

// The page of links, which the worker `link-page` shows in a browser on this machine.

/// `page.enter`: makes an address with which one browser comes in, once. The secret in it becomes a cookie.
public struct PageEnter: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"link":"linkstr://open?p=…"}"#

  /// A link of linkstr's to show first.
  public var link: String?

  /// The start of the page, or a link.
  public init(link: String? = nil) { self.link = link }
}

/// The answer of `page.enter`.
public struct PageAddress: Codable, Sendable, Hashable, Payload {
  /// The address, for a browser on this machine.
  public var address: String
  /// How long it can be used, in seconds.
  public var seconds: Int

  /// An address.
  public init(address: String, seconds: Int) { (self.address, self.seconds) = (address, seconds) }
}

extension RefusalCode {
  /// The page's address cannot be listened at.
  public static let notListening: RefusalCode = "not-listening"
}

/// The settings of `link-page`.
public struct LinkPageSettings: WorkerSettings {
  /// Where it listens: a loopback address and a port.
  public var listen = "127.0.0.1:4868"
  /// The program that shows a notice, and its arguments; the title and the body follow them. Empty: none.
  public var notify: [String] = []
  /// The program that finds the address of a video, and its arguments; the link follows them. It prints addresses of
  /// media files, one in a line. Empty: none.
  public var extractor: [String] = []
  /// What these programs may read in addition to the system's files.
  public var read: [String] = []
  /// `NAME=VALUE`, for these programs.
  public var environment: [String] = []
  /// How long the extractor may take, in milliseconds.
  public var extractorMilliseconds: Int64 = 60_000

  /// The defaults.
  public init() {}
}
