import Contracts
import EventLoop
import Frames
import LinkAddresses
import LinuxSystem
import Logging
import UserPrograms
import WorkerKit

/// Runs the programs of the settings: `notify` and `extractor`.
@EventLoopActor
final class LinkPrograms {
  private let settings: LinkPageSettings

  init(_ worker: Worker, _ settings: LinkPageSettings, directory: String) {
    self.settings = settings
  }

  /// What the worker's sandbox allows, for itself and for the programs.
  nonisolated static func profile(_ directory: String?) -> SandboxProfile {
    SandboxProfile(
      readablePaths: SandboxProfile.runtimePaths + SandboxProfile.resolverPaths,
      writablePaths: directory.map { [$0] } ?? [], network: .inet, maySpawn: false)
  }

  /// Whether a video can be extracted.
  var extracts: Bool { !settings.extractor.isEmpty }

  /// Shows a notice.
  func show(_ notice: LinkChange.Notice) {}

  /// Finds the media file of a link.
  ///
  /// - Throws: `failed`, with the reason in words.
  func media(of url: LinkURL) async throws(Refusal) -> LinkURL {
    throw Refusal(.failed, "no extractor is set")
  }

  /// Ends what runs.
  func end() {}
}
