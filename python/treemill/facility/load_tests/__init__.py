"""The endurance run after HammerCloud: which jobs run when against which storages, what is kept of
them, figures and findings. Plain values in and out; starts no process and knows no clock."""
