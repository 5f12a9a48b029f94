import ClientSession
import Contracts
import Cryptography
import Nostr

extension RelayInformation {
  /// This relay's description (NIP-11) for a client with this requirement.
  init(_ settings: LocalRelaySettings, limits: ClientLimits, _ requirement: ClientRequirement) {
    self.init()
    let text = settings.description
    name = settings.name.isEmpty ? nil : settings.name
    description =
      text.isEmpty
      ? "A local relay: a cache of one's own, which sends to the world what its owner's accounts sign." : text
    contact = settings.contact.isEmpty ? nil : settings.contact
    supportedNIPs = [1, 9, 11, 40, 42, 45, 50, 59, 62, 67, 70, 77]
    icon = settings.icon.isEmpty ? nil : settings.icon
    // `try?`: roostd takes nothing else but "".
    ownKey = try? PublicKey(spelled: settings.ownKey)
    software = settings.software.isEmpty ? nil : settings.software
    version = settings.version.isEmpty ? RoostVersion.text : settings.version
    var limitation = Limitation()
    limitation.messageByteCountMaximum = settings.messageBytes
    limitation.subscriptionMaximum = limits.subscriptionMaximum
    limitation.subscriptionNameLengthMaximum = ClientMessage.subscriptionCharacterCountMaximum
    limitation.limitMaximum = limits.eventMaximum
    limitation.limitDefault = limits.eventMaximum
    limitation.requiresAuthentication = requirement != .open
    limitation.requiresPayment = false
    limitation.restrictsWrites = requirement != .open
    self.limitation = limitation
  }
}
