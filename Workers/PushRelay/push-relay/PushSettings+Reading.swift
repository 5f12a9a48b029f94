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
import WorkerKit

extension PushSettings {
  /// The addresses at which it listens.
  func addresses() throws(Refusal) -> [ListenAddress] {
    var addresses: [ListenAddress] = []
    for text in listen {
      do throws(ListenAddressFault) { addresses.append(try ListenAddress(text)) } catch {
        throw Refusal(.failed, "listen: \"\(text)\": \(error)")
      }
    }
    return addresses
  }

  func proxies() throws(Refusal) -> ProxyTrust {
    var ranges: [AddressRange] = []
    for text in trustedProxies {
      guard let range = AddressRange(text) else {
        throw Refusal(.failed, "trusted-proxies: \"\(text)\" is no address such as 127.0.0.1 or 10.0.0.0/8")
      }
      ranges.append(range)
    }
    return ProxyTrust(ranges)
  }

  /// The origins whose pages may use the relay.
  func crossOrigin() throws(Refusal) -> CrossOrigin {
    for text in origins where text != CrossOrigin.all && !CrossOrigin.isOrigin(text) {
      throw Refusal(.failed, "origins: \"\(text)\" is no origin such as https://app.example.org, nor *")
    }
    return CrossOrigin(origins)
  }

  var signatureRules: SignatureRules {
    let first: SignatureRules.FirstVersion =
      switch versionOne {
      case .reject: .reject
      case .registeredOnly: .registeredOnly
      case .accept: .accept
      }
    return SignatureRules(firstVersion: first, audiences: audience.isEmpty ? [] : [audience])
  }

  /// The address that Nostr keys sign.
  var nostr: NostrRequests { NostrRequests(publicURL: publicURL) }

  /// Nostr keys that may register in addition to the accounts of this machine.
  func listedOwners() throws(Refusal) -> Set<PublicKey> {
    var keys: Set<PublicKey> = []
    for text in nostrOwners {
      do throws(EntityFault) { keys.insert(try PublicKey(spelled: text)) } catch {
        throw Refusal(.failed, "nostr-owners: \"\(text)\" is no public key: \(error)")
      }
    }
    return keys
  }

  var disclosurePolicy: DisclosurePolicy {
    switch disclosure {
    case .contacts: .contacts
    case .open: .open
    case .never: .never
    }
  }

  var admissionPolicy: AdmissionPolicy {
    switch admission {
    case .contacts: .contacts
    case .blockStrangers: .blockStrangers
    case .open: .open
    }
  }

  var limits: AdmissionLimits {
    var limits = AdmissionLimits()
    limits.senderPerMinute = senderMinute
    limits.senderPerHour = senderHour
    limits.recipientPerHour = recipientHour
    limits.strangersPerHour = strangersHour
    limits.addressPerMinute = prefixMinute
    limits.globalPerMinute = globalMinute
    limits.registrationsPerHour = registrationsHour
    limits.addressRegistrationsPerHour = addressRegistrationsHour
    return limits
  }

  /// The types of wakes, from roostd.
  @EventLoopActor
  static func classes(_ worker: Worker) throws(Refusal) -> WakeClasses {
    struct Wakes: Decodable {
      var wakes: [WakeClassSetting]?
    }
    let wakes = try worker.settings(as: Wakes.self).wakes ?? []
    do throws(WakeClassFault) { return try WakeClasses(wakes) } catch { throw Refusal(.failed, "\(error)") }
  }

  /// What platforms may see of a wake.
  var shown: PushMessageSettings.Disclosure { content == .none ? .contentFree : .clear }

  /// Reports unreadable authorities at the start, not at the first push.
  @EventLoopActor
  func checkAuthorities() throws(Refusal) {
    guard let file = Self.file(caFile) else { return }
    guard access(file, R_OK) == 0 else {
      throw Refusal(.failed, "ca-file: \(file) cannot be read: \(String(cString: strerror(errno)))")
    }
    // Otherwise a library would report it in its own words.
    do throws(TrustFault) { _ = try TLSClient(authorityFile: file) } catch {
      throw Refusal(.failed, "ca-file: \(file) holds no certificate in PEM")
    }
  }

  /// A file of the settings; nil for none.
  static func file(_ path: String) -> String? { path.isEmpty ? nil : path }
}
