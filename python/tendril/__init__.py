"""tendril"""
