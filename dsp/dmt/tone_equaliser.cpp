// SPDX-License-Identifier: MIT
#include "dsp/dmt/tone_equaliser.h"

#include "dsp/blocks/preemption_point.h"

namespace offhook::dmt {
namespace {

// Share of the differences' mean power that is added to the power of each, below the precision of a float.
constexpr double kLeastPower = 1e-10;

struct Turn {
  double re, im;
};
constexpr Turn times(Turn a, Turn b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

}  // namespace

// The transform of the window i samples earlier is that of this one turned by i samples, plus differences 1 to i, each
// turned by the rest. So the weight of difference l is the sum of taps[i] over i from l, each turned by i - l.
void ToneEqualiser::set(const float* taps) {
  for (int k = band_.first; k <= band_.last; ++k) {
    oh_preemption_point();
    const SinCos w = sincos_turns(-static_cast<double>(k) / band_.points);
    const Turn turn{w.cos, w.sin};
    Turn sum{0, 0};
    for (int l = kDifferences; l >= 1; --l) {
      sum = times(sum, turn);
      sum.re += static_cast<double>(taps[l]);
      weight_re_[l - 1][k] = static_cast<float>(sum.re);
      weight_im_[l - 1][k] = static_cast<float>(sum.im);
    }
    sum = times(sum, turn);
    gain_[k] = {static_cast<float>(sum.re) + taps[0], static_cast<float>(sum.im)};
  }
}

void ToneEqualiser::filter(const float* window, Complex* received) {
  const int n = band_.tones();
  for (int l = 0; l < kDifferences; ++l) difference_[l] = window[-1 - l] - window[band_.points - 1 - l];
  for (int k = 0; k < n; ++k) {
    const Complex z = gain_[k] * received[k];
    re_[k] = z.re;
    im_[k] = z.im;
  }
  for (int l = 0; l < kDifferences; ++l) {
    kernels_.accumulate(re_, weight_re_[l], difference_[l], n);
    kernels_.accumulate(im_, weight_im_[l], difference_[l], n);
  }
  for (int k = band_.first; k <= band_.last; ++k) received[k] = {re_[k], im_[k]};
}

void ToneEqualiser::begin_fit() {
  symbols_ = tone_ = 0;
  for (auto& row : dd_) {
    for (double& d : row) d = 0;
  }
  for (int l = 0; l < kDifferences; ++l) {
    for (int k = 0; k < kMostTones; ++k) pd_re_[l][k] = pd_im_[l][k] = ed_re_[l][k] = ed_im_[l][k] = 0;
  }
  for (int k = 0; k < kMostTones; ++k) {
    pp_[k] = 0;
    pe_[k] = {};
  }
}

void ToneEqualiser::add(const Complex* points, const Complex* sent, const Complex* turned) {
  const int n = band_.tones();
  ++symbols_;
  for (int i = 0; i < kDifferences; ++i) {
    for (int j = 0; j <= i; ++j) dd_[i][j] += static_cast<double>(difference_[i]) * static_cast<double>(difference_[j]);
  }
  for (int k = band_.first; k <= band_.last; ++k) {
    const Complex p = points[k] * conj(turned[k]);
    pp_[k] += norm(p);
    pe_[k] += (sent[k] - points[k]) * conj(points[k]);
    re_[k] = p.re;
    im_[k] = p.im;
  }
  oh_preemption_point();
  for (int l = 0; l < kDifferences; ++l) {
    kernels_.accumulate(pd_re_[l], re_, difference_[l], n);
    kernels_.accumulate(pd_im_[l], im_, difference_[l], n);
  }
  oh_preemption_point();
  for (int k = band_.first; k <= band_.last; ++k) {
    const Complex e = (sent[k] - points[k]) * conj(turned[k]);
    re_[k] = e.re;
    im_[k] = e.im;
  }
  for (int l = 0; l < kDifferences; ++l) {
    kernels_.accumulate(ed_re_[l], re_, difference_[l], n);
    kernels_.accumulate(ed_im_[l], im_, difference_[l], n);
  }
}

/// dd_ = L L', in place in the lower half.
void ToneEqualiser::factorise() {
  double power = 0;
  for (int i = 0; i < kDifferences; ++i) power += dd_[i][i];
  for (int i = 0; i < kDifferences; ++i) dd_[i][i] += kLeastPower / kDifferences * power + 1e-30;
  for (int i = 0; i < kDifferences; ++i) {
    oh_preemption_point();
    for (int j = 0; j <= i; ++j) {
      double sum = dd_[i][j];
      for (int k = 0; k < j; ++k) sum -= dd_[i][k] * dd_[j][k];
      dd_[i][j] = i == j ? __builtin_sqrt(sum > 1e-30 ? sum : 1e-30) : sum / dd_[j][j];
    }
  }
}

// For unknowns a and v the error is e - a p - sum of v[l] d[l]. The normal equations, with the differences eliminated
// by their factor: q = L^-1 (pd), r = L^-1 (ed), a = (pe - q* r) / (pp - q* q), v = L^-T (r - a q).
void ToneEqualiser::fit_tone(int tone, Complex* equaliser) {
  Turn q[kDifferences], r[kDifferences];
  double left = static_cast<double>(pp_[tone]);
  Turn cross{static_cast<double>(pe_[tone].re), static_cast<double>(pe_[tone].im)};
  const double all = left;
  for (int i = 0; i < kDifferences; ++i) {
    q[i] = {static_cast<double>(pd_re_[i][tone]), static_cast<double>(pd_im_[i][tone])};
    r[i] = {static_cast<double>(ed_re_[i][tone]), static_cast<double>(ed_im_[i][tone])};
    for (int k = 0; k < i; ++k) {
      q[i] = {q[i].re - dd_[i][k] * q[k].re, q[i].im - dd_[i][k] * q[k].im};
      r[i] = {r[i].re - dd_[i][k] * r[k].re, r[i].im - dd_[i][k] * r[k].im};
    }
    const double scale = 1 / dd_[i][i];
    q[i] = {scale * q[i].re, scale * q[i].im};
    r[i] = {scale * r[i].re, scale * r[i].im};
    const Turn both = times({q[i].re, -q[i].im}, r[i]);
    left -= q[i].re * q[i].re + q[i].im * q[i].im;
    cross = {cross.re - both.re, cross.im - both.im};
  }
  oh_preemption_point();
  if (left <= 1e-6 * all) return;  // the differences contain all information of the tone: no change
  const Turn a{cross.re / left, cross.im / left}, changed{1 + a.re, a.im};
  const double size = changed.re * changed.re + changed.im * changed.im;
  if (size <= 1e-6) return;
  for (int i = kDifferences - 1; i >= 0; --i) {
    const Turn of_point = times(a, q[i]);
    r[i] = {r[i].re - of_point.re, r[i].im - of_point.im};
  }
  for (int i = kDifferences - 1; i >= 0; --i) {
    for (int k = i + 1; k < kDifferences; ++k) r[i] = {r[i].re - dd_[k][i] * r[k].re, r[i].im - dd_[k][i] * r[k].im};
    r[i] = {r[i].re / dd_[i][i], r[i].im / dd_[i][i]};
  }
  // The points are equaliser (received): the equaliser is multiplied by 1 + a, and the filter divides v by it.
  const Complex before = equaliser[tone];
  const Turn f = times({static_cast<double>(before.re), static_cast<double>(before.im)}, changed);
  const double power = f.re * f.re + f.im * f.im;
  if (power <= 0) return;
  equaliser[tone] = {static_cast<float>(f.re), static_cast<float>(f.im)};
  for (int l = 0; l < kDifferences; ++l) {
    const Turn v = times(r[l], {f.re / power, -f.im / power});
    weight_re_[l][tone] += static_cast<float>(v.re);
    weight_im_[l][tone] += static_cast<float>(v.im);
  }
}

bool ToneEqualiser::fit(Complex* equaliser) {
  if (tone_ == 0) {
    factorise();
    tone_ = band_.first;
  }
  for (int n = 0; n < kTonesAtOnce && tone_ <= band_.last; ++n, ++tone_) {
    if (tone_ != band_.pilot) fit_tone(tone_, equaliser);
  }
  return tone_ > band_.last;
}

}  // namespace offhook::dmt
