import Addresses
import Contracts
import Cryptography
import EventLoop
import Frames
import Glibc
import Nostr
import PushAdmission
import PushDelivery
import PushRequests
import TLS

/// The settings of a push relay in `supervisor.conf`.
struct PushSettings: Decodable, Sendable {
  // Where it listens, and who may come.
  var listen: [String]?
  var certificateFile: String?
  var keyFile: String?
  var trustedProxies: [String]?
  var origins: [String]?
  var connectionsMaximum: Int?
  var audience: String?
  var versionOne: String?
  var prefixedPaths: Bool?
  var keyRingFile: String?
  // Who is woken by whom, how often.
  var disclosure: String?
  var admission: String?
  var devicesMaximum: Int?
  var senderMinute: Int?
  var senderHour: Int?
  var recipientHour: Int?
  var strangersHour: Int?
  var prefixMinute: Int?
  var registrationsHour: Int?
  var addressRegistrationsHour: Int?
  var globalMinute: Int?
  // Events of Nostr.
  var publicURL: String?
  var nostrRegistration: String?
  var nostrOwners: [String]?
  var nostrKeysMaximum: Int?
  var nostrRelays: Bool?
  var nostrAgeMilliseconds: Int64?
  var nostrPauseMilliseconds: UInt64?
  // The platforms.
  var content: String?
  var apnsKeyFile: String?
  var apnsKeyID: String?
  var apnsTeamID: String?
  var apnsTopic: String?
  var apnsEnvironment: String?
  var apnsURL: String?
  var fcmAccountFile: String?
  var fcmURL: String?
  var webPush: Bool?
  var webPushContact: String?
  var webPushNeighbours: Bool?
  var caFile: String?
  var wakes: [WakeClassSetting]?

  /// Where it listens.
  func addresses() throws(Refusal) -> [ListenAddress] {
    var addresses: [ListenAddress] = []
    for text in listen ?? ["127.0.0.1:4870"] {
      do throws(ListenAddressFault) { addresses.append(try ListenAddress(text)) } catch {
        throw Refusal(.failed, "listen: \"\(text)\": \(error)")
      }
    }
    return addresses
  }

  func proxies() throws(Refusal) -> ProxyTrust {
    var ranges: [AddressRange] = []
    for text in trustedProxies ?? [] {
      guard let range = AddressRange(text) else {
        throw Refusal(.failed, "trusted-proxies: \"\(text)\" is no address such as 127.0.0.1 or 10.0.0.0/8")
      }
      ranges.append(range)
    }
    return ProxyTrust(ranges)
  }

  /// Whose pages may ask.
  func crossOrigin() throws(Refusal) -> CrossOrigin {
    for text in origins ?? [] where text != CrossOrigin.all && !CrossOrigin.isOrigin(text) {
      throw Refusal(.failed, "origins: \"\(text)\" is no origin such as https://app.example.org, nor *")
    }
    return CrossOrigin(origins ?? [])
  }

  var signatureRules: SignatureRules {
    let first: SignatureRules.FirstVersion =
      switch versionOne {
      case "reject": .reject
      case "registered-only": .registeredOnly
      default: .accept
      }
    return SignatureRules(firstVersion: first, audiences: (audience ?? "").isEmpty ? [] : [audience ?? ""])
  }

  /// By which address Nostr keys sign.
  var nostr: NostrRequests { NostrRequests(publicURL: publicURL ?? "") }

  /// Nostr keys that may register beside the accounts of this machine.
  func listedOwners() throws(Refusal) -> Set<PublicKey> {
    var keys: Set<PublicKey> = []
    for text in nostrOwners ?? [] {
      do throws(EntityFault) { keys.insert(try PublicKey(spelled: text)) } catch {
        throw Refusal(.failed, "nostr-owners: \"\(text)\" is no public key: \(error)")
      }
    }
    return keys
  }

  var disclosurePolicy: DisclosurePolicy { disclosure.flatMap(DisclosurePolicy.init) ?? .contacts }

  var admissionPolicy: AdmissionPolicy {
    switch admission {
    case "contacts": .contacts
    case "block-strangers": .blockStrangers
    default: .open
    }
  }

  var limits: AdmissionLimits {
    var limits = AdmissionLimits()
    limits.senderPerMinute = senderMinute ?? limits.senderPerMinute
    limits.senderPerHour = senderHour ?? limits.senderPerHour
    limits.recipientPerHour = recipientHour ?? limits.recipientPerHour
    limits.strangersPerHour = strangersHour ?? limits.strangersPerHour
    limits.addressPerMinute = prefixMinute ?? limits.addressPerMinute
    limits.globalPerMinute = globalMinute ?? limits.globalPerMinute
    limits.registrationsPerHour = registrationsHour ?? limits.registrationsPerHour
    limits.addressRegistrationsPerHour = addressRegistrationsHour ?? limits.addressRegistrationsPerHour
    return limits
  }

  func classes() throws(Refusal) -> WakeClasses {
    do throws(WakeClassFault) { return try WakeClasses(wakes ?? []) } catch { throw Refusal(.failed, "\(error)") }
  }

  /// What platforms are shown of a wake.
  var shown: PushMessageSettings.Disclosure { content == "none" ? .contentFree : .clear }

  /// Authorities that cannot be read are told at the start, and not by the first push.
  @EventLoopActor
  func checkAuthorities() throws(Refusal) {
    guard let file = Self.file(caFile) else { return }
    guard access(file, R_OK) == 0 else {
      throw Refusal(.failed, "ca-file: \(file) cannot be read: \(String(cString: strerror(errno)))")
    }
    // Before others say so in a library's words.
    do throws(TrustFault) { _ = try TLSClient(authorityFile: file) } catch {
      throw Refusal(.failed, "ca-file: \(file) holds no certificate in PEM")
    }
  }

  /// A file of the settings; nil for none.
  static func file(_ path: String?) -> String? { (path ?? "").isEmpty ? nil : path }
}
