internal import Glibc

/// What a client has learned about relays and authors from what it received, and from nothing else: which relay has
/// which author's events, which relays answer, how much each author posts. Everything fades with its age.
///
/// A relay's delivery of an author is a Beta distribution, shrunk to the relay's mean with the weight of
/// ``shrinkage`` events, and the relay's mean in the same way to the mean of all relays.
public struct DeliveryBeliefs: Sendable {
  /// κ: the events that the relay's mean counts for.
  public static let shrinkage = 4.0
  /// Events of one author that count for a relay's mean, so that one busy author does not decide it.
  static let pairWeightMaximum = 10.0
  /// Events of a pair that count at most: events of one pair are not independent.
  static let evidenceMaximum = 60.0
  /// The time after which evidence about delivery counts half: four weeks.
  public static let deliveryHalfLifeMinutes = 40_320.0
  /// The same for reach: a week.
  public static let reachHalfLifeMinutes = 10_080.0
  /// The same for what authors post: four weeks.
  public static let postingHalfLifeMinutes = 40_320.0
  /// The mean of all relays before anything is known, and the events it counts for.
  static let firstMean = 0.75
  static let firstWeight = 20.0
  /// The weight of the mean of all relays in one relay's mean, in events.
  static let relayWeight = 8.0
  /// What an author is thought to post before anything is known: 15 events a week, most of them nothing.
  static let firstEventsPerWeek = 15.0
  static let firstWeeks = 20.0
  /// The shape of the prior of authors' rates (Gamma): small, because a few authors post most.
  static let rateShape = 0.3
  static let weekMinutes = 10_080.0
  /// Relays and authors that can be remembered, each.
  static let numberMaximum = 1 << 21

  var pairs = PairTable()
  /// By relay: delivery, with each pair's weight bounded.
  var deliveries: [Evidence] = []
  /// By relay: dials that were answered, and others.
  var reaches: [Evidence] = []
  /// By relay: a moving average, in milliseconds; 0: not measured.
  var latencies: [Double] = []
  /// By author: events as successes, and observed weeks as failures.
  var postings: [Evidence] = []

  /// Nothing is known.
  public init() {}

  // MARK: Learning

  /// What a relay brought of an author.
  public mutating func learn(_ report: DeliveryReport) {
    guard report.known > 0, Self.isUsable(report.relay), Self.isUsable(report.author) else { return }
    let evidence = Evidence(
      successes: Double(report.had), failures: Double(report.known - report.had), minute: report.minute)
    guard add(report.relay, report.author, evidence) else { return }
    let weight = min(1, Self.pairWeightMaximum / evidence.total)
    Self.grow(&deliveries, report.relay)
    deliveries[Int(report.relay)].add(
      Evidence(
        successes: evidence.successes * weight, failures: evidence.failures * weight, minute: evidence.minute),
      halfLifeMinutes: Self.deliveryHalfLifeMinutes)
  }

  /// Whether a relay answered.
  public mutating func learn(_ report: ReachReport) {
    guard Self.isUsable(report.relay) else { return }
    Self.grow(&reaches, report.relay)
    reaches[Int(report.relay)].add(
      Evidence(successes: report.answered ? 1 : 0, failures: report.answered ? 0 : 1, minute: report.minute),
      halfLifeMinutes: Self.reachHalfLifeMinutes)
    guard let measured = report.latencyMilliseconds, measured >= 0 else { return }
    while latencies.count <= Int(report.relay) { latencies.append(0) }
    let before = latencies[Int(report.relay)]
    latencies[Int(report.relay)] = before == 0 ? Double(measured) : 0.7 * before + 0.3 * Double(measured)
  }

  /// How much an author posted.
  public mutating func learn(_ report: PostingReport) {
    guard Self.isUsable(report.author), report.observedMinutes > 0 else { return }
    Self.grow(&postings, report.author)
    postings[Int(report.author)].add(
      Evidence(
        successes: Double(report.events), failures: report.observedMinutes / Self.weekMinutes, minute: report.minute),
      halfLifeMinutes: Self.postingHalfLifeMinutes)
  }

  /// Forgets deliveries and postings, to compute them again from what is stored; what was learned of reach stays.
  public mutating func forgetDeliveries() {
    pairs = PairTable()
    deliveries = []
    postings = []
  }

  private mutating func add(_ relay: Int32, _ author: Int32, _ evidence: Evidence) -> Bool {
    pairs.update(relay, author) { $0.add(evidence, halfLifeMinutes: Self.deliveryHalfLifeMinutes) }
  }

  static func isUsable(_ number: Int32) -> Bool { number >= 0 && number < numberMaximum }

  static func grow(_ list: inout [Evidence], _ number: Int32) {
    while list.count <= Int(number) { list.append(Evidence()) }
  }

  // MARK: What is expected

  /// The share of an author's events that a relay is expected to have, 0 to 1.
  public func delivery(of relay: Int32, for author: Int32, at minute: Int64) -> Double {
    let (successes, failures) = shape(
      relay, author, mean: mean(of: relay, overall: overallMean(at: minute), at: minute), at: minute)
    return successes / (successes + failures)
  }

  /// The events that an author is expected to post in a week.
  public func eventsPerWeek(of author: Int32, at minute: Int64) -> Double {
    eventsPerWeek(of: author, overall: overallEventsPerWeek(at: minute), at: minute)
  }

  /// The chance that a relay answers. `isListed` says whether a monitor calls it alive (NIP-66); nil when that is not
  /// known.
  public func reach(of relay: Int32, isListed: Bool?, at minute: Int64) -> Double {
    let prior: Double
    switch isListed {
    case true: prior = 0.8
    case false: prior = 0.15
    case nil: prior = 0.6
    }
    guard reaches.indices.contains(Int(relay)) else { return prior }
    let seen = reaches[Int(relay)].faded(at: minute, halfLifeMinutes: Self.reachHalfLifeMinutes)
    let weight = 0.5
    return (prior * weight + seen.successes) / (weight + seen.total)
  }

  /// The two shapes of the Beta distribution of a pair.
  func shape(_ relay: Int32, _ author: Int32, mean: Double, at minute: Int64) -> (Double, Double) {
    let prior = (Self.shrinkage * mean, Self.shrinkage * (1 - mean))
    guard let found = pairs.find(relay, author) else { return prior }
    let seen = found.faded(at: minute, halfLifeMinutes: Self.deliveryHalfLifeMinutes)
    let scale = seen.total > Self.evidenceMaximum ? Self.evidenceMaximum / seen.total : 1
    return (prior.0 + seen.successes * scale, prior.1 + seen.failures * scale)
  }

  func mean(of relay: Int32, overall: Double, at minute: Int64) -> Double {
    guard deliveries.indices.contains(Int(relay)) else { return overall }
    let seen = deliveries[Int(relay)].faded(at: minute, halfLifeMinutes: Self.deliveryHalfLifeMinutes)
    // Never 0 nor 1: both shapes of a Beta distribution are positive.
    return min(max((Self.relayWeight * overall + seen.successes) / (Self.relayWeight + seen.total), 0.01), 0.99)
  }

  func overallMean(at minute: Int64) -> Double {
    var sum = Self.firstMean * Self.firstWeight
    var weight = Self.firstWeight
    for delivery in deliveries where delivery.total > 0 {
      let seen = delivery.faded(at: minute, halfLifeMinutes: Self.deliveryHalfLifeMinutes)
      // Each relay counts for its mean, by at most 20 events: the overall mean is one of relays.
      let share = min(seen.total, 20)
      sum += share * seen.successes / max(seen.total, .leastNormalMagnitude)
      weight += share
    }
    return sum / weight
  }

  func eventsPerWeek(of author: Int32, overall: Double, at minute: Int64) -> Double {
    let (events, weeks) = posting(of: author, overall: overall, at: minute)
    return events / weeks
  }

  /// The shape and the rate of the Gamma distribution of an author's events a week.
  func posting(of author: Int32, overall: Double, at minute: Int64) -> (events: Double, weeks: Double) {
    let prior = (Self.rateShape, Self.rateShape / overall)
    guard author >= 0, Int(author) < postings.count else { return prior }
    let seen = postings[Int(author)].faded(at: minute, halfLifeMinutes: Self.postingHalfLifeMinutes)
    return (prior.0 + seen.successes, prior.1 + seen.failures)
  }

  func overallEventsPerWeek(at minute: Int64) -> Double {
    var events = Self.firstEventsPerWeek * Self.firstWeeks
    var weeks = Self.firstWeeks
    for posting in postings where posting.failures > 0 {
      let seen = posting.faded(at: minute, halfLifeMinutes: Self.postingHalfLifeMinutes)
      events += seen.successes
      weeks += seen.failures
    }
    return max(events / weeks, 0.01)
  }
}
