public import Cryptography
public import Nostr
internal import Synchronization

// What the signer keeps of the authors whose seals it has opened: computing the key of a conversation costs more than
// verifying a signature, and an inbox has few authors. The keys are as secret as an account's: they are in
// `SecretMemory`, and an account's are dropped with its own key. An author is kept only after its seal's signature was
// right: names that strangers invent displace nothing.

/// Keys of conversations with authors of seals, of all unlocked accounts together; shared by the threads that open.
public final class ConversationCache: Sendable {
  /// An author, as one account knows it.
  public struct Author: Sendable {
    /// Its key's point.
    public let point: ParsedPublicKey
    /// The key of its conversation with the account.
    public let conversation: ConversationKey
  }
  private struct Pair: Hashable {
    var account: PublicKey
    var peer: PublicKey
  }
  private struct State {
    var accounts: Set<PublicKey> = []
    var young: [Pair: Author] = [:]
    var old: [Pair: Author] = [:]
  }
  private let state = Mutex(State())

  /// The authors of one generation; a full one becomes the old one, whose authors are dropped. So 1,024 are kept at
  /// most, 32 KiB of the memory for secrets.
  public static let generationCapacity = 512

  /// An empty cache, of no account.
  public init() {}

  /// These accounts are unlocked now: what is kept of others is dropped, and wiped with its last use.
  public func keep(only accounts: Set<PublicKey>) {
    state.withLock { state in
      let gone = state.accounts.subtracting(accounts)
      state.accounts = accounts
      guard !gone.isEmpty else { return }
      state.young = state.young.filter { accounts.contains($0.key.account) }
      state.old = state.old.filter { accounts.contains($0.key.account) }
    }
  }

  /// The author, if it is kept.
  public func author(_ peer: PublicKey, of account: PublicKey) -> Author? {
    let pair = Pair(account: account, peer: peer)
    return state.withLock { $0.young[pair] ?? $0.old[pair] }
  }

  /// Keeps an author whose signature was right, unless the account was locked meanwhile.
  public func keep(_ author: Author, _ peer: PublicKey, of account: PublicKey) {
    state.withLock { state in
      guard state.accounts.contains(account) else { return }
      if state.young.count >= Self.generationCapacity {
        state.old = state.young
        state.young = [:]
      }
      state.young[Pair(account: account, peer: peer)] = author
    }
  }

  /// How many authors are kept.
  public var count: Int { state.withLock { $0.young.count + $0.old.count } }
}
