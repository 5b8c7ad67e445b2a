"""The OpenClaw relay: an agent's mail to a gateway, and its replies back."""
