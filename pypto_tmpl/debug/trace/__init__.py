"""What a stage computes, value by value: recorded, stored, matched with what another stage computes."""
