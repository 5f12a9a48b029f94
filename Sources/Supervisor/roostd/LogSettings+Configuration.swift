import RoostConfiguration
import Logs

extension WorkerLogSettings {
  /// The bounds in `[log]` of `supervisor.conf`.
  init(_ settings: LogSettings, directory: String?) {
    self.init(directory: directory)
    rotation = RotationLimits(rotateByteCount: settings.rotateBytes, keptFileCount: settings.keepFiles)
    linesPerSecond = settings.linesPerSecond
    burstLines = settings.burstLines
    lineByteCountMaximum = settings.lineBytesMaximum
  }
}

extension LogFilter {
  /// The levels in `[log]` of `supervisor.conf`; further categories than the table holds keep the general level.
  init(_ settings: LogSettings) {
    self.init(general: LogSeverity(settings.level))
    for (category, level) in settings.levels { _ = set(category, LogSeverity(level)) }
  }
}

extension LogSeverity {
  /// The same word.
  init(_ level: LogLevel) { self = LogSeverity(rawValue: level.rawValue) ?? .info }
}
