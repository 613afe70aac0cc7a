"""Agents that work for an agent: started, admitted, followed and reported."""
