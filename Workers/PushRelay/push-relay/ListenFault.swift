import Contracts
import Frames
import Glibc
import NIOCore

/// Why the relay cannot listen at an address, for the operator.
enum ListenFault {
  /// The refusal that ends the start: `unavailable`, and another attempt, if the cause may pass; `failed` if a setting
  /// must change.
  static func refusal(_ error: any Error, at address: ListenAddress) -> Refusal {
    guard let error = error as? IOError else { return Refusal(.unavailable, "listen: \(address): \(error)") }
    switch error.errnoCode {
    case EADDRINUSE:
      return Refusal(
        .unavailable,
        "listen: \(address) is taken by another program ('ss -ltnp' shows which): end that one, or choose another port")
    case EADDRNOTAVAIL:
      return Refusal(.unavailable, "listen: \(address): this machine has no such address, or not yet")
    case EACCES:
      return Refusal(
        .failed,
        "listen: \(address): the system keeps ports below 1024 for itself: choose another, behind a proxy, or see"
          + " docs/operations.md")
    default:
      return Refusal(.unavailable, "listen: \(address): \(String(cString: strerror(error.errnoCode)))")
    }
  }
}
