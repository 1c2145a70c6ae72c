"""The frame plugins hang in: extension points, statuses, verdicts, cycle state, profiles."""
