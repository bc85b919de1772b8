"""The course and lesson on the topic of each course's lesson 4."""

SAME_TOPIC_AS_LESSON_4 = {
    "Databases from First Principles": ("Fast Web Applications", 2),
    "Fast Web Applications": ("Operating Distributed Systems", 5),
    "Operating Distributed Systems": ("Designing Web APIs", 3),
    "Designing Web APIs": ("Payments Engineering", 2),
    "Payments Engineering": ("Bookkeeping for Small Studios", 2),
    "Bookkeeping for Small Studios": ("Payments Engineering", 5),
    "Statistics for Curious People": ("Machine Learning without Mystique", 2),
    "Machine Learning without Mystique": ("Forecasting in Practice", 5),
    "Forecasting in Practice": ("Statistics for Curious People", 6),
    "Bread from Scratch": ("Kitchen Microbiology", 2),
    "Kitchen Microbiology": ("The Home Dairy", 2),
    "The Home Dairy": ("Kitchen Microbiology", 5),
}
