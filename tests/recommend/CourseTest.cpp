// SPDX-License-Identifier: BSD-3-Clause
#include "race/Ainvil_Course.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using ainvil::detail::Course;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A digit a second from 1 on.
Course steady(int looks) {
  Course course(1);
  for (int i = 1; i <= looks; ++i)
    course.add(1 + i, std::pow(10.0, -i));
  return course;
}

TEST(Course, PredictsASteadyOne) {
  const Course course = steady(3);
  EXPECT_EQ(course.looks(), 3u);
  EXPECT_NEAR(course.digits(), 3, 1e-12);
  EXPECT_NEAR(course.rate(), 1, 1e-12);
  EXPECT_NEAR(course.secondsUntil(8), 9, 1e-9);
}

TEST(Course, WhatIsReachedIsNotPredicted) {
  EXPECT_EQ(steady(3).secondsUntil(2), 4);
}

TEST(Course, TheRateIsThatOfLate) {
  Course course = steady(3);
  for (int i = 0; i < 20; ++i) // stagnation
    course.add(5 + i, 1e-3);
  EXPECT_EQ(course.rate(), 0);
  EXPECT_EQ(course.secondsUntil(8), infinity);
}

TEST(Course, PeaksAndNaNGainNothing) {
  Course course(0);
  course.add(1, 1e-2);
  course.add(2, 1e3);
  course.add(3, std::numeric_limits<double>::quiet_NaN());
  EXPECT_NEAR(course.digits(), 2, 1e-12);
  EXPECT_EQ(course.digitsAt(0.5), 0);
  EXPECT_NEAR(course.digitsAt(2.5), 2, 1e-12);
}

TEST(Course, AClockThatStandsStillHasNoRate) {
  Course course(2);
  course.add(2, 1e-3);
  EXPECT_EQ(course.rate(), 0);
  EXPECT_EQ(course.secondsUntil(8), infinity);
  EXPECT_EQ(Course(2).secondsUntil(8), infinity);
}

TEST(Course, TellsWhenDigitsWereGained) {
  const Course course = steady(3);
  EXPECT_EQ(course.secondsAt(0), 1);
  EXPECT_EQ(course.secondsAt(2), 3);
  EXPECT_EQ(course.secondsAt(1.5), 3); // at the look that saw them
  EXPECT_EQ(course.secondsAt(4), infinity);
}

/// Two digits in the first seconds, then one in each 5.
Course slowingDown(double pace, int looks) {
  Course course(0);
  for (int i = 1; i <= looks; ++i)
    course.add(pace * i, std::pow(10.0, -(i <= 2 ? i : 2 + (i - 2) / 5.0)));
  return course;
}

TEST(Course, AnotherCourseTellsHowItGoesOn) {
  const Course leader = slowingDown(1, 32), half = slowingDown(2, 2);
  ASSERT_NEAR(leader.digits(), 8, 1e-12);
  EXPECT_NEAR(half.secondsUntil(8, leader), 64, 1e-9);
  EXPECT_NEAR(half.secondsUntil(8), 12, 1e-9); // by itself it looks far better
  // The other way round there is nothing to learn.
  EXPECT_EQ(leader.secondsUntil(20, half), leader.secondsUntil(20));
}

TEST(Course, AResidualOfZeroIsAllThereIs) {
  Course course(0);
  course.add(1, 1e-2);
  course.add(2, 0);
  EXPECT_EQ(course.secondsUntil(300), 2);
}

/// The set-up, 10 seconds here, is not slower for being at half the pace.
TEST(Course, OfAnotherOnlyThePaceCounts) {
  Course late(10);
  late.add(12, 1e-1);
  late.add(14, 1e-2);
  EXPECT_NEAR(late.secondsUntil(8, slowingDown(1, 32)), 74, 1e-9);
}

TEST(Course, AnotherCourseTellsNothingOfTheFirstTenths) {
  Course begun(0);
  begun.add(1, 0.99);
  EXPECT_EQ(begun.secondsUntil(8, slowingDown(1, 32)), infinity);
}

TEST(Course, ATimeThatRunsBackwardsStands) {
  Course course(0);
  course.add(5, 1e-1);
  course.add(4, 1e-2);
  EXPECT_EQ(course.seconds(), 5);
}

} // namespace
