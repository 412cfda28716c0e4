// SPDX-License-Identifier: MIT
// Every transition of a link: what one event does in one state, against the clauses of V.42.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "dsp/link/v42_link.h"

namespace offhook::v42 {
namespace {

struct Case {
  const char* clause;
  oh_pump_role role;
  oh_lapm_state before;
  LinkEvent event;
  bool pf;
  oh_lapm_state after;
  uint8_t answer = 0;  // UA or DM
  oh_lapm_cause cause = OH_LAPM_NO_CAUSE;
  bool Link::*flag = nullptr;  // set before
  bool Link::*due = nullptr;   // and after
  uint32_t violations = 0;
};

constexpr oh_pump_role kOriginator = OH_PUMP_CALL, kAnswerer = OH_PUMP_ANSWER;
constexpr oh_lapm_state kDetection = OH_LAPM_DETECTION, kNegotiation = OH_LAPM_NEGOTIATION,
                        kEstablishment = OH_LAPM_ESTABLISHMENT, kConnected = OH_LAPM_CONNECTED,
                        kRelease = OH_LAPM_RELEASE, kDisconnected = OH_LAPM_DISCONNECTED,
                        kUnsupported = OH_LAPM_UNSUPPORTED, kFailed = OH_LAPM_FAILED;

const std::vector<Case> kCases = {
    {"8.3.2.1: an answerer accepts", kAnswerer, kEstablishment, LinkEvent::kSabme, true, kConnected, kUa},
    {"7.2.1.3: before it has seen a pattern", kAnswerer, kDetection, LinkEvent::kSabme, true, kConnected, kUa},
    {"8.4.9.1: the UA was lost", kAnswerer, kConnected, LinkEvent::kSabme, true, kConnected, kUa, OH_LAPM_NO_CAUSE,
     &Link::fresh},
    {"8.4.9: in the midst of data", kAnswerer, kConnected, LinkEvent::kSabme, true, kFailed, 0, OH_LAPM_RESET},
    {"8.4.9: to an originator", kOriginator, kConnected, LinkEvent::kSabme, true, kFailed, 0, OH_LAPM_RESET,
     &Link::fresh},
    {"8.9.1: SABMEs cross", kOriginator, kEstablishment, LinkEvent::kSabme, true, kEstablishment, kUa},
    {"8.9.2: SABME while releasing", kAnswerer, kRelease, LinkEvent::kSabme, true, kRelease, kDm},
    {"SABME to an originator that detects", kOriginator, kDetection, LinkEvent::kSabme, true, kDetection, kDm},
    {"SABME after the end", kAnswerer, kDisconnected, LinkEvent::kSabme, true, kDisconnected, kDm},
    {"8.7: DISC", kAnswerer, kConnected, LinkEvent::kDisc, true, kDisconnected, kUa},
    {"8.9.1: DISCs cross", kAnswerer, kRelease, LinkEvent::kDisc, true, kRelease, kUa},
    {"8.8: DISC without a link", kAnswerer, kEstablishment, LinkEvent::kDisc, true, kEstablishment, kDm},
    {"8.3.2.1: UA", kOriginator, kEstablishment, LinkEvent::kUa, true, kConnected},
    {"UA without F", kOriginator, kEstablishment, LinkEvent::kUa, false, kEstablishment, 0, OH_LAPM_NO_CAUSE, nullptr,
     nullptr, 1},
    {"UA before the SABME has gone", kOriginator, kEstablishment, LinkEvent::kUa, true, kEstablishment, 0,
     OH_LAPM_NO_CAUSE, &Link::sabme_due, nullptr, 1},
    {"UA to an answerer", kAnswerer, kEstablishment, LinkEvent::kUa, true, kEstablishment, 0, OH_LAPM_NO_CAUSE, nullptr,
     nullptr, 1},
    {"8.7: UA to DISC", kOriginator, kRelease, LinkEvent::kUa, true, kDisconnected},
    {"UA in data", kOriginator, kConnected, LinkEvent::kUa, true, kConnected, 0, OH_LAPM_NO_CAUSE, nullptr, nullptr, 1},
    {"8.7: DM to DISC", kOriginator, kRelease, LinkEvent::kDm, true, kDisconnected},
    {"DM without F to DISC", kOriginator, kRelease, LinkEvent::kDm, false, kRelease},
    {"8.3.2.1: DM to SABME", kOriginator, kEstablishment, LinkEvent::kDm, true, kFailed, 0, OH_LAPM_REFUSED},
    {"DM without F to SABME", kOriginator, kEstablishment, LinkEvent::kDm, false, kEstablishment},
    {"Table 9: DM without F in data", kAnswerer, kConnected, LinkEvent::kDm, false, kFailed, 0, OH_LAPM_REFUSED},
    {"Table 9: DM to a poll", kAnswerer, kConnected, LinkEvent::kDm, true, kFailed, 0, OH_LAPM_REFUSED,
     &Link::recovery},
    {"Table 9: DM with F unasked", kAnswerer, kConnected, LinkEvent::kDm, true, kConnected, 0, OH_LAPM_NO_CAUSE,
     nullptr, nullptr, 1},
    {"8.5.6: FRMR", kAnswerer, kConnected, LinkEvent::kFrmr, false, kFailed, 0, OH_LAPM_FRAME_REJECTED},
    {"FRMR without a link", kAnswerer, kEstablishment, LinkEvent::kFrmr, false, kEstablishment},
    {"8.10: XID without parameters", kAnswerer, kEstablishment, LinkEvent::kXid, false, kEstablishment, 0,
     OH_LAPM_NO_CAUSE, nullptr, nullptr, 1},
    {"8.13: UI without a message", kAnswerer, kConnected, LinkEvent::kUi, false, kConnected, 0, OH_LAPM_NO_CAUSE,
     nullptr, nullptr, 1},
    {"UI without a link", kAnswerer, kEstablishment, LinkEvent::kUi, false, kEstablishment},
    {"8.11: TEST is sent back", kAnswerer, kConnected, LinkEvent::kTest, false, kConnected, 0, OH_LAPM_NO_CAUSE,
     nullptr, &Link::echo_due},
    {"8.5.5: undefined in data", kAnswerer, kConnected, LinkEvent::kUndefined, false, kFailed, 0,
     OH_LAPM_FRAME_REJECTED},
    {"undefined without a link", kAnswerer, kEstablishment, LinkEvent::kUndefined, false, kEstablishment},
    {"7.2.1.1: no pattern", kOriginator, kDetection, LinkEvent::kT400, false, kUnsupported},
    {"7.2.1.1: a pattern has been seen", kOriginator, kDetection, LinkEvent::kT400, false, kDetection, 0,
     OH_LAPM_NO_CAUSE, &Link::pattern_seen},
    {"III.1: our pattern is not understood", kAnswerer, kDetection, LinkEvent::kT400, false, kDetection, 0,
     OH_LAPM_NO_CAUSE, &Link::pattern_seen, &Link::pattern_enough},
    {"XID again", kOriginator, kNegotiation, LinkEvent::kT401, false, kNegotiation, 0, OH_LAPM_NO_CAUSE, nullptr,
     &Link::xid_due},
    {"SABME again", kOriginator, kEstablishment, LinkEvent::kT401, false, kEstablishment, 0, OH_LAPM_NO_CAUSE, nullptr,
     &Link::sabme_due},
    {"no SABME yet", kAnswerer, kEstablishment, LinkEvent::kT401, false, kEstablishment},
    {"DISC again", kOriginator, kRelease, LinkEvent::kT401, false, kRelease, 0, OH_LAPM_NO_CAUSE, nullptr,
     &Link::disc_due},
    {"8.4.8: poll", kOriginator, kConnected, LinkEvent::kT401, false, kConnected, 0, OH_LAPM_NO_CAUSE, nullptr,
     &Link::poll_due},
    {"III.3: the defaults have to do", kOriginator, kNegotiation, LinkEvent::kN400, false, kEstablishment, 0,
     OH_LAPM_NO_CAUSE, nullptr, &Link::sabme_due},
    {"nobody answers DISC", kOriginator, kRelease, LinkEvent::kN400, false, kDisconnected},
    {"8.4.8: nobody answers", kOriginator, kConnected, LinkEvent::kN400, false, kFailed, 0, OH_LAPM_NO_ANSWER},
    {"nobody answers SABME", kOriginator, kEstablishment, LinkEvent::kN400, false, kFailed, 0, OH_LAPM_NO_ANSWER},
};

TEST(LapmStates, EveryTransitionIsThatOfTheRecommendation) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.clause);
    oh_lapm_config config;
    oh_lapm_default_config(&config, c.role, 2400);
    const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(64, oh_lapm_size(&config)), &std::free);
    Link& link = *oh_lapm_init(memory.get(), &config);
    link.status.state = c.before;
    if (c.flag != nullptr) link.*c.flag = true;
    Frame frame{};
    frame.command = true;
    frame.pf = c.pf;
    link.fire(c.event, frame);
    EXPECT_EQ(link.status.state, c.after);
    EXPECT_EQ(link.status.cause, c.cause);
    EXPECT_EQ(link.answer, c.answer);
    EXPECT_EQ(link.answer_f, c.answer != 0 && c.pf);
    EXPECT_EQ(link.status.violations, c.violations);
    EXPECT_TRUE(c.due == nullptr || link.*c.due);
    if (c.after == kEstablishment && c.role == kAnswerer && c.event == LinkEvent::kT401) {
      EXPECT_TRUE(link.t401.running());
    }
  }
}

}  // namespace
}  // namespace offhook::v42
