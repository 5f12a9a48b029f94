internal import Contracts
internal import EventLoop
internal import Frames

/// Reads profiles, and asks again after an interruption. What the reader has is remembered, one entry for each of the
/// request's people, so that it is not returned again.
@EventLoopActor
final class ProfileReader {
  private let client: RoostClient
  private let wanted: PeopleProfiles
  private var answer: RoostStream<ProfilePage, Nothing>?
  private var known: [String: KnownProfile] = [:]
  private var isAskedTold = false
  private var isOver = false
  private var perseverance = Perseverance(isLasting: true)

  nonisolated init(_ client: RoostClient, _ wanted: PeopleProfiles) { (self.client, self.wanted) = (client, wanted) }

  func next() async throws(Refusal) -> ProfilePage? {
    while !Task.isCancelled, !isOver {
      do throws(Refusal) {
        if answer == nil { answer = try await client.stream(PeopleMethod.profiles, wanted) }
        guard let page = try await answer?.nextPart() else {
          guard wanted.live != true else { throw Refusal(.unavailable, "the worker ended the answer", outcome: .done) }
          isOver = true
          continue
        }
        perseverance.moved()
        if let news = news(in: page) { return news }
      } catch {
        answer = nil
        if Task.isCancelled { return nil }
        perseverance = try await client.persevere(after: client.explainedPeople(error), perseverance)
      }
    }
    answer = nil
    return nil
  }

  private func news(in page: ProfilePage) -> ProfilePage? {
    var news = page
    news.profiles = page.profiles.filter { known.updateValue($0, forKey: $0.pubkey) != $0 }
    if isAskedTold { news.asked = nil }
    isAskedTold = isAskedTold || page.asked != nil
    return news.profiles.isEmpty && news.asked == nil ? nil : news
  }
}
