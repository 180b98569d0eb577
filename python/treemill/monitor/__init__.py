"""What a user sees of a query: progress, feedback, report, pictures. Looks at plain values that it
is given; imports nothing of sessions, backends or workers."""
