/// The settings of a `push-relay`, except its types of wakes.
public struct PushSettings: WorkerSettings {
  /// Which senders learn whether a key is registered.
  public enum Disclosure: String, Codable, CaseIterable, Sendable {
    /// The senders that the recipient has allowed.
    case contacts
    /// All senders.
    case open
    /// No sender.
    case never
  }
  /// Who may wake owners that have set no policy.
  public enum Admission: String, Codable, CaseIterable, Sendable {
    /// Every sender.
    case open
    /// Contacts, and senders that hold a ticket.
    case contacts
    /// Only contacts.
    case blockStrangers = "block-strangers"
  }
  /// What happens with signatures without an audience, as all present apps make them.
  public enum OldSignatures: String, Codable, CaseIterable, Sendable {
    /// They are accepted.
    case accept
    /// They are accepted from registered devices.
    case registeredOnly = "registered-only"
    /// They are refused.
    case reject
  }
  /// Which of Apple's services is used.
  public enum AppleEnvironment: String, Codable, CaseIterable, Sendable {
    /// The service for apps from the store.
    case production
    /// The service for apps under development.
    case sandbox
  }
  /// Which Nostr keys may register devices.
  public enum NostrRegistration: String, Codable, CaseIterable, Sendable {
    /// The accounts of this machine, and ``PushSettings/nostrOwners``.
    case known
    /// All keys.
    case anybody
  }
  /// What platforms can see of a wake.
  public enum Content: String, Codable, CaseIterable, Sendable {
    /// Its payload.
    case clear
    /// Nothing.
    case none
  }

  // Where it listens, and which clients it admits.

  /// Addresses to listen at.
  public var listen = ["127.0.0.1:4870"]
  /// The certificate chain, in PEM; "" for none.
  public var certificateFile = ""
  /// The certificate's key, in PEM; "" when it is in the same file.
  public var keyFile = ""
  /// Addresses of proxies whose `X-Forwarded-For` is believed, such as `127.0.0.1` or `10.0.0.0/8`.
  public var trustedProxies: [String] = []
  /// Origins whose web pages may send requests; `*` for all.
  public var origins: [String] = []
  /// The maximum number of connections.
  public var connectionsMaximum = 1_000
  /// The audience that signatures name; "" for none.
  public var audience = ""
  /// What happens with signatures without an audience.
  public var versionOne = OldSignatures.accept
  /// Whether a signature over the requested path, `/v1/wake`, is valid too, in addition to one over `/wake`.
  public var prefixedPaths = false
  /// The file of the keys that encrypt tokens; "" for a file beside the ledger.
  public var keyRingFile = ""

  // Who may wake whom, and how often.

  /// Which senders learn whether a key is registered.
  public var disclosure = Disclosure.contacts
  /// Who may wake owners that have set no policy.
  public var admission = Admission.open
  /// Devices of one owner.
  public var devicesMaximum = 10
  /// Wakes of one sender in a minute.
  public var senderMinute = 10
  /// Wakes of one sender in an hour.
  public var senderHour = 100
  /// Wakes to one recipient in an hour.
  public var recipientHour = 100
  /// Wakes of strangers to one recipient in an hour.
  public var strangersHour = 20
  /// Registrations of one owner in an hour.
  public var registrationsHour = 30
  /// Registrations from one address in an hour.
  public var addressRegistrationsHour = 120
  /// Requests from one address, or one /64, in a minute.
  public var prefixMinute = 600
  /// Requests of all in a minute.
  public var globalMinute = 6_000

  // Events of Nostr.

  /// The URL that Nostr keys sign (NIP-98); "" when Nostr keys cannot register.
  public var publicURL = ""
  /// Which Nostr keys may register devices.
  public var nostrRegistration = NostrRegistration.known
  /// Nostr keys that may register in addition to the accounts; npub or hexadecimal.
  public var nostrOwners: [String] = []
  /// The maximum number of Nostr keys with devices.
  public var nostrKeysMaximum = 1_000
  /// Whether relays are queried for events that wake the keys.
  public var nostrRelays = true
  /// The age of the oldest event that wakes a device.
  public var nostrAgeMilliseconds: Int64 = 600_000
  /// The pause between two wakes of a device for events.
  public var nostrPauseMilliseconds: UInt64 = 30_000

  // The platforms.

  /// What platforms can see of a wake.
  public var content = Content.clear
  /// The file of Apple's key; "" for none, and no APNs.
  public var apnsKeyFile = ""
  /// The key's id, ten characters.
  public var apnsKeyID = ""
  /// The team's id, ten characters.
  public var apnsTeamID = ""
  /// The app's bundle identifier.
  public var apnsTopic = ""
  /// Which of Apple's services is used.
  public var apnsEnvironment = AppleEnvironment.production
  /// Another address than Apple's for APNs; "" for Apple's.
  public var apnsURL = ""
  /// The file of Google's service account; "" for none, and no FCM.
  public var fcmAccountFile = ""
  /// Another address than Google's for FCM; "" for Google's.
  public var fcmURL = ""
  /// Whether devices of Web Push are served.
  public var webPush = true
  /// The operator's `mailto:` or `https:` for Web Push (RFC 8292); "" for none.
  public var webPushContact = ""
  /// Whether services of Web Push may be in this machine's own networks.
  public var webPushNeighbours = false
  /// A file of certificate authorities that are trusted in addition to the system's; "" for none.
  public var caFile = ""

  /// The defaults.
  public init() {}
}
