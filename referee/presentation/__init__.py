"""What people are shown: the view of a session, announcements, marks and cues."""
