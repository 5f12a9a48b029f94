internal import ArgumentParser
internal import Contracts
internal import Frames
internal import MethodReference
internal import Rendering
internal import RoostClient

/// `roost methods`
struct Methods: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    abstract: "Shows the methods that can be called, or all about one.",
    discussion: """
      No supervisor is needed. With --json a JSON Schema: of one method, or of everything, as in docs/methods.json.

        roost methods store
        roost methods store.query
        roost methods --json > methods.json
      """)
  @Argument(help: "A method or topic, such as plan.publish, or the beginning of several names.")
  var name: String?
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let all = BuiltInMethods.all
    if let method = all.first(where: { $0.name == name }) {
      await session.print(MethodReference.document(of: method), MethodText.details(method, session.style))
      return .done
    }
    let chosen = all.filter { method in name.map { method.name.hasPrefix($0) } ?? true }
    guard !chosen.isEmpty, !session.isJSON || name == nil else {
      let names = all.map(\.name)
      let hint = NearestName.hint(name ?? "", among: names)
      throw Refusal(.unknownMethod, "there is no method '\(name ?? "")'\(hint)", outcome: .notStarted)
    }
    if session.isJSON {
      // The output adds the last newline.
      await session.output.writeLines([String(MethodReference.document.dropLast())])
    } else {
      await session.output.writeLines(MethodText.list(chosen, session.style))
    }
    return .done
  }
}
