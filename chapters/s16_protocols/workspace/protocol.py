"""The requests that you write: a table, and what follows from it."""

TABLE = {  # (state, message, sender): the new state
    ("open", "agree", "recipient"): "agreed",
    ("open", "decline", "recipient"): "declined",
    ("open", "withdraw", "asker"): "withdrawn",
}


class Requests:
    def __init__(self):
        self.known = {}

    def ask(self, asker, recipient, text):
        id = f"r{len(self.known) + 1}"
        people = {asker: "asker", recipient: "recipient"}
        self.known[id] = {"people": people, "text": text, "state": "open"}
        return id

    def say(self, id, message, sender):
        request = self.known[id]
        role = request["people"].get(sender, "other")
        state = request["state"]
        if (state, message, role) not in TABLE:
            return f"{id} is {state}; {sender} cannot {message}"
        request["state"] = TABLE[state, message, role]
        return f"{id} is {request['state']}"

    def may_write(self, id):
        return self.known[id]["state"] == "agreed"


if __name__ == "__main__":
    requests = Requests()
    id = requests.ask("ann", "lead", "Bread costs 4.")
    print(f"{id}: ann asks lead. Type a message and a sender.")
    while (line := input("> ")).strip():
        message, _, sender = line.partition(" ")
        print(requests.say(id, message, sender.strip()))
        print("ann may write:", requests.may_write(id))
