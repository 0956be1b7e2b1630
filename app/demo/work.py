"""Projects for clients who bought, the tasks in them, other tasks, and documents."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

from app.demo.vocabulary import DOCUMENTS, PROJECT_TASKS, PROJECTS, TASKS, Row
from app.demo.world import Record, World, money

PROJECT_COUNT = 40
TASK_COUNT = 600
DOCUMENT_COUNT = 150


def make_projects(world: World) -> None:
    """40 projects from opportunities that were won, with the tasks of a roll-out."""
    won = [each for each in world.records["Opportunities"] if each["stage"] == "ClosedWon"]
    won.sort(key=lambda each: each["closedAt"])
    chosen = sorted(world.dice.sample(range(len(won)), PROJECT_COUNT))
    for number, index in enumerate(chosen, 1):
        _project(world, number, won[index])


def _project(world: World, number: int, opportunity: Record) -> None:
    start = opportunity["closedAt"].date() + timedelta(days=world.dice.randint(3, 25))
    end = start + timedelta(days=world.dice.randint(40, 110))
    if start > world.today:
        status = "Planned"
    elif end < world.today - timedelta(days=10):
        status = world.weighted([("Completed", 88), ("Canceled", 12)])
    else:
        status = world.weighted([("Active", 85), ("OnHold", 15)])
    manager = world.employee("Manager", "Sales")
    created_at = world.after(opportunity["closedAt"], 2, 60)
    completed = world.at(min(end, world.today), created_at) if status == "Completed" else None
    project = world.add(
        "Projects",
        code=f"P-{number:06d}",
        name=world.pick_new(PROJECTS, "project", opportunity["clientId"]),
        clientId=opportunity["clientId"],
        opportunityId=opportunity["id"],
        status=status,
        startDate=start,
        endDate=end,
        managerId=manager,
        budgetAmount=opportunity["amount"],
        budgetHours=Decimal(world.dice.randint(60, 160)),
        currency=opportunity["currency"],
        billingType=world.weighted([("Fixed", 4), ("TimeAndMaterial", 6)]),
        hourlyRate=Decimal(world.pick((96, 115, 128))),
        completedAt=completed,
        ownerId=manager,
        createdById=manager,
        createdAt=created_at,
        updatedAt=completed or created_at,
    )
    days = (end - start).days
    for index, step in enumerate(PROJECT_TASKS):
        due = start + timedelta(days=days * (index + 1) // len(PROJECT_TASKS))
        _project_task(world, project, step, index, due)


def _project_task(world: World, project: Record, step: Row, index: int, due: date) -> None:
    past = due < world.today
    state = project["status"]
    if state == "Completed" or (state != "Canceled" and past and world.chance(0.9)):
        status = "Done"
    elif state == "Canceled":
        status = "Done" if index < 4 else "Canceled"
    elif state == "Active" and past:
        status = world.pick(("InProgress", "Blocked", "Todo"))
    else:
        status = "Todo"
    created_at = project["createdAt"]
    finished = world.at(min(due, world.today), created_at) if status == "Done" else None
    world.add(
        "Tasks",
        title=step.title,
        status=status,
        priority=world.weighted([("Normal", 70), ("High", 20), ("Low", 10)]),
        assigneeId=world.employee("Manager", "Sales", "Support"),
        dueAt=f"{due}T16:00:00Z",
        projectId=project["id"],
        relatedType="Client",
        relatedId=project["clientId"],
        estimatedHours=Decimal(step.hours),
        actualHours=money(step.hours * (0.7 + world.dice.random() * 0.7), "0.25")
        if finished
        else None,
        billable=index not in (0, 9),
        hourlyRate=project["hourlyRate"],
        position=index + 1,
        completedAt=finished,
        ownerId=project["managerId"],
        createdById=project["managerId"],
        createdAt=created_at,
        updatedAt=finished or created_at,
    )


def make_tasks(world: World) -> None:
    """What else is to do: about clients, opportunities and leads, some of it late."""
    targets = [
        *(("Client", each) for each in world.records["Clients"] if each["status"] == "Active"),
        *(
            ("Opportunity", each)
            for each in world.records["Opportunities"]
            if "closedAt" not in each
        ),
        *(("Lead", each) for each in world.records["Leads"] if each["status"] == "Qualified"),
    ]
    while len(world.records["Tasks"]) < TASK_COUNT:
        kind, record = world.pick(targets)
        age = world.dice.randint(0, 120)
        created_at = max(world.at(world.days_ago(age)), record["createdAt"])
        due = created_at + timedelta(days=world.dice.randint(1, 30))
        done = due < world.now and world.chance(0.88)
        finished = world.after(created_at, 2, 24 * 20) if done else None
        person = world.employee("Sales", "Manager", "Support", "Accountant")
        world.add(
            "Tasks",
            title=world.pick(TASKS),
            status="Done" if done else world.weighted([("Todo", 70), ("InProgress", 30)]),
            priority=world.weighted([("Normal", 64), ("High", 20), ("Low", 13), ("Urgent", 3)]),
            assigneeId=person,
            dueAt=due,
            reminderAt=due - timedelta(days=1) if not done and world.chance(0.5) else None,
            relatedType=kind,
            relatedId=record["id"],
            completedAt=finished,
            ownerId=person,
            createdById=person,
            createdAt=created_at,
            updatedAt=finished or created_at,
        )


def make_documents(world: World) -> None:
    """What is known of documents; their files are written when they are there (``files``)."""
    clients = [each for each in world.records["Clients"] if each["status"] == "Active"]
    for _ in range(DOCUMENT_COUNT):
        client = world.pick(clients)
        file = world.pick_new(DOCUMENTS, "document", client["id"])
        created_at = max(world.at(world.some_day(360, 1)), client["createdAt"])
        world.add(
            "Documents",
            name=f"{file.name.format(client=client['name'])}.{file.extension}",
            category=file.category,
            folder=f"/clients/{client['number']}",
            clientId=client["id"],
            entityType="Client",
            entityId=client["id"],
            contentType=file.media_type,
            expiresAt=created_at.date() + timedelta(days=file.valid_days)
            if file.valid_days
            else None,
            status="Pending",
            ownerId=client["ownerId"],
            createdById=client["ownerId"],
            createdAt=created_at,
        )
